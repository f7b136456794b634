#!/bin/sh
# Puts the completions where the shells look for them: install_completions.sh PROGRAM SHARE
set -e
prog=$1 share=$2
mkdir -p "$share/bash-completion/completions" "$share/zsh/site-functions" "$share/fish/vendor_completions.d"
"$prog" completion bash >"$share/bash-completion/completions/fftbloom"
"$prog" completion zsh >"$share/zsh/site-functions/_fftbloom"
"$prog" completion fish >"$share/fish/vendor_completions.d/fftbloom.fish"
