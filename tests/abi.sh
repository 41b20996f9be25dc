#!/bin/sh
# What was promised to programs that were built with an earlier version still holds (tests/abi/<version>, scripts/abi_baseline.sh):
# no function and no struct of the headers has gone or changed, by abidiff; and a program that was linked with that version runs.
# The comparison itself is tried too, on a library of three functions. Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
command -v abidiff >/dev/null || { echo "abi.sh: abidiff is missing (Debian: abigail-tools)" >&2; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

# compare BASELINE LIBRARY: fails, and says what it is, when something of the baseline is not as it was.
compare() {
    { echo '[abi_whitelist]'; sed -n "s/.*<elf-symbol name='\([^']*\)'.*/  \1/p" "$1"; } >"$folder/promised"
    abidiff --suppressions tests/abi/grows.suppr --kmi-whitelist "$folder/promised" --no-added-syms "$1" "$2" >"$folder/report"
}

# ---- the comparison ----
sample() { # NAME OPTIONS...: the library and its baseline
    name=$1; shift
    cc -g -shared -fPIC -I"$folder" "$@" "$folder/sample.c" -o "$folder/$name.so"
}
cat >"$folder/sample.h" <<'END'
typedef struct point {
    int x;
    POINT_MEMBER y;
} point;
int area(const point *p);
#ifndef REMOVED
int length(const point *p);
#endif
END
cat >"$folder/sample.c" <<'END'
#include "sample.h"
int area(const point *p) { return (int)(p->x * p->y); }
#ifndef REMOVED
int length(const point *p) { return (int)(p->x + p->y); }
#endif
#ifdef ADDED
int added(const point *p) { return p->x; }
#endif
END
sample old -DPOINT_MEMBER=int
sample more -DPOINT_MEMBER=int -DADDED
sample less -DPOINT_MEMBER=int -DREMOVED
sample other -DPOINT_MEMBER=long
abidw --headers-dir "$folder" --drop-private-types --no-show-locs "$folder/old.so" >"$folder/sample.abi"
compare "$folder/sample.abi" "$folder/more.so" || { echo "abi.sh: a new function is taken for a change"; exit 1; }
if compare "$folder/sample.abi" "$folder/less.so"; then echo "abi.sh: a function that has gone is not noticed"; exit 1; fi
if compare "$folder/sample.abi" "$folder/other.so"; then echo "abi.sh: a struct that has changed is not noticed"; exit 1; fi
passed=$((passed + 3))

# ---- the libraries ----
mkdir "$folder/old"
for version in tests/abi/[0-9]*; do
    for library in libltensor libltensor_lua; do
        compare "$version/$library.abi" "$BUILD/$library.so" || {
            cat "$folder/report"
            echo "abi.sh: $library is not what ${version##*/} promised. Programs that were built with it would break. If that version"
            echo "is not out yet, and this is meant: make abi-baseline, and commit tests/abi."
            exit 1
        }
        passed=$((passed + 1))
    done

    # Linked with a library that has that version's symbols and nothing in them, compiled with its headers.
    {
        echo "LTENSOR_${version##*/} { global:"
        sed -n "s/.*<elf-symbol name='\([^']*\)' version='LTENSOR_${version##*/}'.*/\1;/p" "$version/libltensor.abi"
        echo 'local: *; };'
    } >"$folder/old/map"
    sed -n 's/^\(lt_.*\);$/int \1(void) { return 0; }/p' "$folder/old/map" >"$folder/old/stubs.c"
    cc -w -shared -fPIC -Wl,-soname,libltensor.so.0 -Wl,--version-script="$folder/old/map" "$folder/old/stubs.c" -o "$folder/old/libltensor.so"
    cc -std=c99 -Wall -Wextra -Werror -I"$version" tests/abi/program.c -o "$folder/old/program" -L"$folder/old" -lltensor
    LD_BIND_NOW=1 LD_LIBRARY_PATH=$BUILD "$folder/old/program" || { echo "abi.sh: the program of ${version##*/} fails"; exit 1; }
    passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
