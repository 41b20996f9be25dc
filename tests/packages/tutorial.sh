#!/bin/sh
# Types docs/guide/start.md into a bare Debian: every block of sh as it stands there, one after the other, in one shell's folder; each line of
# the block of text behind it has to be in what it said. As root, with debootstrap and a network (BARE: tests/packages/deb.sh).
set -eu
page=docs/guide/start.md
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
passed=0
sh packaging/bare/make.sh "$root"
mkdir "$root/packages" "$work/blocks"
cp dist/*_"$VERSION"_*.deb "$root/packages/"

# 01.sh, 01.text, 02.sh …: the blocks of the page.
awk -v folder="$work/blocks" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```sh$/ { file = sprintf("%s/%02d.sh", folder, ++n); inside = 1; next }
    /^```text$/ { file = sprintf("%s/%02d.text", folder, n); inside = 1; next }
    inside { print > file }' "$page"

for block in "$work"/blocks/*.sh; do
    name=$(basename "$block" .sh)
    echo "tutorial: $(grep -c . "$block") lines, from: $(head -n 1 "$block")"
    cp "$block" "$root/root/block"
    if ! sh packaging/bare/run.sh "$root" sh -e -c 'cd /root && . ./block' >"$work/out" 2>&1; then
        tail -n 40 "$work/out" >&2
        echo "tutorial.sh: a command failed of $page:" >&2
        cat "$block" >&2
        exit 1
    fi
    [ -f "$work/blocks/$name.text" ] || continue
    while IFS= read -r line; do
        grep -qF -e "$line" "$work/out" || { tail -n 40 "$work/out" >&2; echo "tutorial.sh: no '$line' from the block of $page that begins: $(head -n 1 "$block")" >&2; exit 1; }
        passed=$((passed + 1))
    done <"$work/blocks/$name.text"
done
echo "$passed passed, 0 failed"
