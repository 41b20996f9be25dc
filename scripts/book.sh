#!/bin/sh
# Runs the notebooks of docs/book in full (D2L_FULL=1), each into $BUILD/book, and prints what each took and its lines that name the
# book's own values. Usage: scripts/book.sh [number...]; 03 stands for docs/book/03-*.md; without numbers all of them.
# D2L_EPOCHS and D2L_EXAMPLES are the most epochs and pictures of what would take days without a GPU.
set -u
BUILD=${BUILD-build}
mkdir -p "$BUILD/book"
failed=0
run() {
    out=$BUILD/book/$(basename "$1")
    begun=$(date +%s)
    state=finished
    D2L_FULL=1 "$BUILD/ltensor" --cells "$1" >"$out" || state=failed failed=1
    printf '%-40s %6d s  %s\n' "$(basename "$1")" $(($(date +%s) - begun)) "$state"
    sed -n 's/^\(.*(the book: .*)\)$/    \1/p' "$out" | grep -v '%[.0-9]*f' || true
}
[ $# -gt 0 ] || set -- 0 1 2
for number in "$@"; do
    for notebook in docs/book/"$number"*.md; do
        case $notebook in *'*'*) echo "book.sh: there is no docs/book/$number*.md" >&2; exit 1 ;; esac
        run "$notebook"
    done
done
exit $failed
