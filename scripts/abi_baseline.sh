#!/bin/sh
# Records the interface of this version: scripts/abi_baseline.sh VERSION (make abi-baseline) writes
# tests/abi/<major.minor>/ from $BUILD: the headers, and abidw's description of functions and types
# in the libraries. tests/abi.sh compares later builds with it. A version's folder may be renewed
# until the release; afterwards never.
set -eu
BUILD=${BUILD-build}
version=$(echo "$1" | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')
folder=tests/abi/$version
command -v abidw >/dev/null || { echo "abi_baseline.sh: abidw is missing (Debian: abigail-tools)" >&2; exit 1; }
public=$(mktemp)
trap 'rm -f "$public"' EXIT
mkdir -p "$folder"
for header in include/*.h "$BUILD/gen/ltensor_ops.h"; do
    case $header in *_prompt.h) continue ;; esac
    cp "$header" "$folder/"
done
for library in libltensor libltensor_lua; do
    # Symbols between our libraries (LTENSOR_PRIVATE_…) are not part of the interface.
    { echo '[abi_whitelist]'; sed '/^LTENSOR_PRIVATE/,$d' "$BUILD/obj/$library.map" | sed -n 's/^    \(l.*\);/  \1/p'; } >"$public"
    abidw --kmi-whitelist "$public" --headers-dir "$folder" --drop-private-types --drop-undefined-syms --exported-interfaces-only \
        --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed "$BUILD/$library.so" |
        sed '/LTENSOR_PRIVATE/d' >"$folder/$library.abi"
    echo "$folder: $(grep -c '<elf-symbol ' "$folder/$library.abi") functions of $library"
done
