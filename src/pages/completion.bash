# Completions of fftbloom for bash; made by `fftbloom completion bash`.
_fftbloom() {
    local line lines cur=${COMP_WORDS[COMP_CWORD]#=}
    mapfile -t lines < <(fftbloom completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=()
    for line in "${lines[@]}"; do
        case $line in
        :files) mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur"); compopt -o filenames ;;
        :more) compopt -o nospace ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done
}
complete -F _fftbloom fftbloom
