# Completions of fftbloom for fish; made by `fftbloom completion fish`.
function __fftbloom
    set -l token (commandline -ct)
    for line in (fftbloom completion words -- (commandline -opc)[2..] "$token" 2>/dev/null)
        switch $line
            case :more
            case :files
                set -l flag (string match -r -- '^--[a-z-]+=' $token; or echo)
                printf '%s\n' $flag(__fish_complete_path (string replace -- "$flag" '' $token))
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c fftbloom -f -a '(__fftbloom)'
