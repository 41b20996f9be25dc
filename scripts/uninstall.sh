#!/bin/sh
# make uninstall: removes from $DESTDIR$PREFIX the files that make install wrote, by the list that it
# stored there, and the folders that it created, if they are empty. Needs no build.
set -eu
target=${DESTDIR-}$PREFIX
manifest=share/ltensor/installed
[ -f "$target/$manifest" ] || {
    echo "uninstall: $target has no installation of ltensor: $manifest was not found; set PREFIX and DESTDIR as for make install" >&2
    exit 1
}
list=$(mktemp)
trap 'rm -f "$list"' EXIT
# The inner folders first.
LC_ALL=C sort -r "$target/$manifest" >"$list"
cd "$target"
while read -r name; do
    case $name in
        /* | ../* | */../* | '') echo "uninstall: $manifest has the line '$name', which is not below the prefix" >&2; exit 1 ;;
        */) ;;
        *) rm -f -- "$name" ;;
    esac
done <"$list"
grep '/$' "$list" | while read -r folder; do
    [ "$folder" = ./ ] || [ ! -d "$folder" ] || rmdir -- "$folder" 2>/dev/null || true
done
if grep -qx '\./' "$list"; then rmdir -- "$target" 2>/dev/null || true; fi
