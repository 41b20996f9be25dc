#!/bin/sh
# The amalgamation for Windows (make single-file SYSTEM=windows): MinGW-w64 compiles it, and the C tests of the library pass under Wine.
# Usage: tests/windows/run.sh OBJECT LIBRARIES, the compiled amalgamation and the folder of libraries' sources (mk/library_sources.mk).
# tests/windows/known has the number of a program's tests that fail, with the reason. $TESTS: names of some programs. Uses $BUILD (default build).
set -eu
object=$1 cmocka=$2/cmocka
BUILD=${BUILD-build}
MINGW=${MINGW-x86_64-w64-mingw32-gcc-posix}
single=$(dirname "$object")
work=$(mktemp -d)
end() {
    wineserver -k 2>/dev/null || true # of $WINEPREFIX
    rm -rf "$work"
}
trap end EXIT
passed=0
export WINEDEBUG=-all WINEPREFIX="$work/wine"
fail() { echo "tests/windows/run.sh: $1" >&2; exit 1; }

# Formats of C99, not those of Microsoft's C library.
flags="-std=gnu11 -D_GNU_SOURCE -D__USE_MINGW_ANSI_STDIO=1 -w"
# shellcheck disable=SC2086
"$MINGW" $flags -O1 -DHAVE_MALLOC_H -DHAVE_INTTYPES_H -DHAVE_SIGNAL_H -DHAVE_GCC_THREAD_LOCAL_STORAGE -I"$cmocka/include" \
    -c "$cmocka/src/cmocka.c" -o "$work/cmocka.o"
# The library of JSON files, which the amalgamation opens.
"$MINGW" -O1 -w -shared "$2/cjson/cJSON.c" -o "$work/libcjson-1.dll"
mkdir "$work/gen"
cp "$BUILD/gen/ltensor_ops.h" "$work/gen"
for test in tests/core/*_test.c; do
    name=$(basename "$test" _test.c)
    case $name in *_lua) continue ;; esac
    case " ${TESTS-$name} " in *" $name "*) ;; *) continue ;; esac
    known=$(sed -n "s/^$name \([^ ]*\) .*/\1/p" tests/windows/known)
    [ "$known" != all ] || continue
    # shellcheck disable=SC2086
    "$MINGW" $flags -O1 -I"$single" -Iinclude -Isrc/core -I"$BUILD/gen" -I"$cmocka/include" -isystem "$2/zlib" -include tests/windows/posix.h \
        "$test" "$work/cmocka.o" "$object" -static -lpthread -o "$work/$name.exe" || fail "$test does not compile"
    status=0
    wine "$work/$name.exe" >"$work/log" 2>&1 || status=$?
    count=$(sed -n 's/.*\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$work/log" | awk '{ n += $1 } END { print n + 0 }')
    if [ "$status" -ne "${known:-0}" ] || [ "$count" -eq 0 ]; then
        cat "$work/log" >&2
        fail "$test ends with status $status"
    fi
    printf '%-24s %4d passed %4d failed as expected\n' "$name" "$count" "${known:-0}"
    passed=$((passed + count))
done
echo "$passed passed, 0 failed"
