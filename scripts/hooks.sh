#!/bin/sh
# Git hooks that check commits: scripts/hooks.sh install|pre-commit|commit-msg FILE
#
#   install     makes both hooks of this clone call this script; refuses to replace other hooks
#   pre-commit  checks the staged files with the installed checkers: clang-format-14, luacheck, shellcheck
#   commit-msg  checks the message in FILE: "area: imperative summary" of at most 72 characters, an empty second line
set -eu

fail() {
    echo "commit refused: $1" >&2
    exit 1
}

install_hooks() {
    folder=$(git rev-parse --git-path hooks)
    mkdir -p "$folder"
    for hook in pre-commit commit-msg; do
        if [ -e "$folder/$hook" ] && ! grep -q 'scripts/hooks.sh' "$folder/$hook"; then
            fail "$folder/$hook exists; call scripts/hooks.sh $hook from it"
        fi
        printf '#!/bin/sh\nexec sh scripts/hooks.sh %s "$@"\n' $hook >"$folder/$hook"
        chmod 755 "$folder/$hook"
    done
    echo "installed in $folder: pre-commit, commit-msg"
}

# check PROGRAM PATTERN ARGUMENTS...: runs the program, if it is installed, on the staged files of the pattern.
check() {
    program=$1 pattern=$2
    shift 2
    command -v "$program" >/dev/null 2>&1 || return 0
    files=$(git diff --cached --name-only --diff-filter=d | grep -E "$pattern" | grep -v '^tests/abi/' || true)
    # shellcheck disable=SC2086
    [ -z "$files" ] || "$program" "$@" $files || fail "$program; see the lines above (make format repairs the layout of C code)"
}

check_message() {
    subject=$(sed -n 1p "$1")
    case $subject in Merge\ * | Revert\ * | fixup!\ * | squash!\ *) return ;; esac
    echo "$subject" | grep -qE '^[a-z0-9_.,/ -]+: [^ ].*[^.]$' ||
        fail "the subject is '$subject', not 'area: imperative summary' without a period at its end"
    [ "$(printf %s "$subject" | wc -m)" -le 72 ] || fail "the subject has $(printf %s "$subject" | wc -m) characters, more than 72"
    [ -z "$(sed -n 2p "$1")" ] || fail "the second line of the message is not empty"
}

case ${1-} in
    install) install_hooks ;;
    pre-commit)
        check clang-format-14 '\.(c|h|cu|cuh|cpp|inc)$' --dry-run -Werror
        check luacheck '\.lua$' -q
        check shellcheck '\.sh$' -x
        ;;
    commit-msg) check_message "$2" ;;
    *)
        echo "usage: scripts/hooks.sh install|pre-commit|commit-msg FILE" >&2
        exit 2
        ;;
esac
