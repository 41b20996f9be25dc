#!/bin/sh
# Copies the sources into a new folder: packaging/source.sh FOLDER. From a clone the files that git
# tracks, as they are now; from an unpacked archive everything except build results. Each file has
# the time SOURCE_DATE_EPOCH if that is set.
set -eu
to=$1
rm -rf "$to"
mkdir -p "$to"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -z
else
    find . \( -path ./.git -o -path ./build -o -path './build-*' -o -path ./dist \) -prune -o \( -type f -o -type l \) -print0
fi | tar --null --files-from=- -cf - | tar -C "$to" --no-same-owner -xf -
find "$to" -exec chmod u+w,go=u-w {} +
[ -z "${SOURCE_DATE_EPOCH-}" ] || find "$to" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
