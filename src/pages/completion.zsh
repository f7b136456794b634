#compdef fftbloom
# Completions of fftbloom for zsh; made by `fftbloom completion zsh`.
_fftbloom() {
    local line files
    local -a found shown more
    for line in "${(@f)$(fftbloom completion words -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
        case $line in
        :files) files=1 ;;
        :more) more=(-S '') ;;
        ?*) found+=("${line%%$'\t'*}"); shown+=("${line/$'\t'/  -- }") ;;
        esac
    done
    if (($#found)); then compadd -l "${(@)more}" -d shown -a found; fi
    if [[ -n $files ]]; then compset -P '--*='; _files; fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _fftbloom "$@"
else
    compdef _fftbloom fftbloom
fi
