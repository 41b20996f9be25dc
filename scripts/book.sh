#!/bin/sh
# Runs the notebooks of docs/book in full (D2L_FULL=1), each into $BUILD/book, and prints the time
# of each and its lines with the book's values. Usage: scripts/book.sh [number...]; 03 selects
# docs/book/03-*.md; without numbers all. D2L_EPOCHS and D2L_EXAMPLES limit the epochs and examples
# of networks that would take days without a GPU.
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
