#!/bin/sh
# The amalgamation (make single-file): gcc compiles it in a folder that has gcc, the headers of the C library and nothing else (a
# chroot: needs root or user namespaces); so does clang, here. The C tests pass with both objects. A shared library of it exports the
# functions of its header and no other. Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
single=$BUILD/single
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
fail() { echo "single_file.sh: $1" >&2; exit 1; }
make --no-print-directory -s BUILD="$BUILD" CUDA=no single-file

# ---- gcc, in a chroot ----
root=$work/root
# Copies files, and the libraries that programs among them need.
copy() {
    for file; do
        cp -L --parents "$file" "$root"
        ldd "$file" 2>/dev/null | grep -o '/[^ ]*' | xargs -r cp -L --parents -t "$root"
    done
}
compiler=$(gcc -print-prog-name=cc1)
mkdir -p "$root/tmp" "$root/src"
cp "$single/ltensor.c" "$single/ltensor.h" "$root/src"
PATH=/usr/bin:/bin copy "$(PATH=/usr/bin:/bin command -v gcc)" "$(PATH=/usr/bin:/bin command -v as)" "$compiler"
cp -r --parents "$(gcc -print-file-name=include)" "$root"
machine=$(dpkg --print-architecture)
dpkg -L "libc6-dev:$machine" "linux-libc-dev:$machine" | grep '^/usr/include/.*\.h$' | xargs cp -L --parents -t "$root"
[ ! -e "$root/usr/include/zlib.h" ] || fail 'the chroot has more than the headers of the C library'
enter="chroot $root"
[ "$(id -u)" = 0 ] || enter="unshare -r $enter"
begin=$(date +%s)
$enter /usr/bin/gcc -O2 -fPIC -c /src/ltensor.c -o /src/ltensor.o || fail 'gcc does not compile it without other files'
echo "gcc -O2: $(($(date +%s) - begin)) s; ltensor.c: $(wc -c <"$single/ltensor.c") bytes"
mv "$root/src/ltensor.o" "$work/gcc.o"
size "$work/gcc.o"
passed=$((passed + 1))

# ---- clang ----
objects=$work/gcc.o
if command -v clang >/dev/null; then
    begin=$(date +%s)
    clang -O2 -fPIC -c "$single/ltensor.c" -o "$work/clang.o" || fail 'clang does not compile it'
    echo "clang -O2: $(($(date +%s) - begin)) s"
    size "$work/clang.o"
    objects="$objects $work/clang.o"
    passed=$((passed + 1))
fi

# ---- functions ----
# Functions that the header marks as public, or defines for bindings.
grep -hoE '^LT_(API|INLINE) [^;{]*' "$single/ltensor.h" | sed -E 's/ *\(.*//; s/.*[ *]//' | sort -u >"$work/declared"
for object in $objects; do
    gcc -shared -o "$work/library.so" "$object" -lm -ldl -lpthread
    nm -D -P --defined-only "$work/library.so" | sed 's/ .*//' | sort >"$work/exported"
    diff "$work/declared" "$work/exported" >"$work/difference" || fail "functions of the header, and exported ones: $(head -n 20 "$work/difference")"
    readelf -d "$work/library.so" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | grep -v '^lib[cm]\.so\|^libdl\|^libpthread\|^ld-linux' >"$work/needed" &&
        fail "it needs $(cat "$work/needed")"
    passed=$((passed + 1))
done

# ---- the C tests ----
# With the functions of the header in the program's table of symbols, and the header where a test reads it.
mkdir "$work/tests" "$work/gen"
cp "$BUILD/gen/ltensor_ops.h" "$work/gen"
for test in tests/core/*_test.c; do
    case $test in *_lua_test.c | */assertion_test.c) continue ;; esac
    gcc -std=c11 -D_GNU_SOURCE -O1 -w -I"$single" -Iinclude -Isrc/core -I"$BUILD/gen" -c "$test" -o "$work/test.o" || fail "$test does not compile"
    for object in $objects; do
        gcc -rdynamic "$work/test.o" "$object" -o "$work/tests/test" -lcmocka -lm -ldl -lpthread || fail "$test does not link with $(basename "$object")"
        LTENSOR_LIB_DIR=$PWD/$BUILD "$work/tests/test" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "$test fails with $(basename "$object")"; }
        passed=$((passed + 1))
    done
done
echo "$passed passed, 0 failed"
