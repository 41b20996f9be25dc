#!/bin/sh
# make install, a moved prefix, make uninstall.
#
#   the libraries in a multiarch folder; the prefix moved, so that a path to the old one fails: pkg-config, CMake's file, the program,
#   its simulated GPUs and help, the module in lua5.4
#   the same in a root folder that contains the prefix, the C library and lua5.4 only (root, or users with namespaces)
#   uninstall: only foreign files are left, and no folder that install created; without an installation it is an error
#
# Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
fail() { echo "install.sh: $1" >&2; exit 1; }
expect() { grep -qF -e "$1" "$work/out" || { echo "install.sh: no line with '$1' in:" >&2; cat "$work/out" >&2; exit 1; }; }
made() { make --no-print-directory -s BUILD="$BUILD" PREFIX=/opt/first LIBDIR=lib/multi DESTDIR="$work/root" "$@"; }

if made uninstall >"$work/out" 2>&1; then fail "uninstall without an installation succeeds"; fi
expect 'has no installation of ltensor'
passed=$((passed + 1))

# ---- install beside other files ----
first=$work/root/opt/first
mkdir -p "$first/bin" "$first/share/doc/other"
echo kept | tee "$first/bin/other" >"$first/share/doc/other/file"
(cd "$work/root" && find . | sort) >"$work/before"
(umask 077 && made install >/dev/null)
[ "$(find "$first/share/ltensor" "$first/bin" -perm /044 | wc -l)" = "$(find "$first/share/ltensor" "$first/bin" | wc -l)" ] ||
    fail "other users cannot read the files"
made install >/dev/null # again, over the first
if grep -rIl --exclude=kernel.json --exclude-dir=html -e /opt/first -e "$work" "$first"; then fail "these files name the prefix"; fi
passed=$((passed + 1))

# ---- moved ----
moved=$work/moved
mv "$first" "$moved"
cat >"$work/probe.c" <<'C'
#include <ltensor.h>
#include <stdio.h>
int main(void)
{
    float numbers[2] = {1, 2};
    const int64_t size = 2;
    lt_tensor *x = NULL, *y = NULL;
    double sum = 0;
    if (lt_tensor_wrap(numbers, LT_FLOAT32, 1, &size, NULL, NULL, &x) || lt_sum(x, LT_DTYPE_NONE, &y)) return 1;
    sum = ((float *)lt_tensor_data(y))[0];
    printf("sum %g\n", sum);
    return 0;
}
C
PKG_CONFIG_PATH=$moved/lib/multi/pkgconfig export PKG_CONFIG_PATH
for kind in ltensor ltensor-static; do
    # shellcheck disable=SC2046
    cc -std=c99 -Wall -Werror "$work/probe.c" $(pkg-config --cflags --libs $kind) -lm -o "$work/$kind"
    LD_LIBRARY_PATH=$moved/lib/multi "$work/$kind" >"$work/out"
    expect 'sum 3'
done
if command -v luajit >/dev/null; then
    LUA_PATH="$moved/share/lua/5.1/?.lua" luajit -e "local torch = require 'ltensor-ffi'
        print(torch.arange(3):sum(), select(2, pcall(torch.onnx.load, '/none.onnx')))
        for line in io.lines '/proc/self/maps' do io.write(line:match '/%S*libltensor%.so.*' or '', '\\n') end" >"$work/out"
    expect 'tensor(3)'
    expect '/none.onnx: No such file'
    expect "$moved/lib/multi/libltensor.so"
fi
[ -f "$(pkg-config --variable=description ltensor)" ] || fail "pkg-config does not find ltensor.json"
passed=$((passed + 1))
cat >"$work/gpu.lua" <<'LUA'
local torch = require 'torch'
print(torch.arange(4), torch.ones(3, {device = 'cuda'}):sum():item())
LUA
check_runtime() { # command prefix, the installation, probe
    LTENSOR_SIM_GPUS=1 $1 "$2/bin/ltensor" --no-copies "$3" >"$work/out"
    expect 'tensor([0, 1, 2, 3])	3.0'
    LTENSOR_SIM_GPUS=1 LUA_CPATH="$2/lib/multi/lua/5.4/?.so" $1 /usr/bin/lua5.4 "$3" >"$work/out" 2>&1
    expect 'tensor([0, 1, 2, 3])	3.0'
    passed=$((passed + 1))
}
check_runtime '' "$moved" "$work/gpu.lua"

# ---- the moved prefix in a root folder of its own ----
jail=$work/jail
mkdir -p "$jail/elsewhere" "$jail/usr/bin" "$jail/tmp"
cp -R "$moved/bin" "$moved/lib" "$moved/share" "$jail/elsewhere/"
cp -L /usr/bin/lua5.4 "$jail/usr/bin/"
cp "$work/gpu.lua" "$jail/"
ldd "$moved/bin/ltensor" "$moved/lib/multi/libltensor_lua.so" "$moved/lib/multi/ltensor/libltensor_sim.so" /usr/bin/lua5.4 |
    grep -o '/[^ ]*\.so[^ ]*' | grep -v "^$work" | sort -u | while read -r library; do
    mkdir -p "$jail/$(dirname "$library")"
    cp -L "$library" "$jail/$library"
done
PATH=$PATH:/usr/sbin:/sbin
enter=$(command -v chroot)
[ "$(id -u)" -eq 0 ] || enter="$(command -v unshare) -r $enter"
if $enter "$jail" /usr/bin/lua5.4 -v >/dev/null 2>&1; then
    # LD_ORIGIN_PATH stands for what the loader reads from /proc, which the folder lacks.
    LD_ORIGIN_PATH=/elsewhere/bin check_runtime "$enter $jail" /elsewhere /gpu.lua
else
    echo "install.sh: chroot is not permitted here: the moved prefix was tested in this system only" >&2
fi

# ---- uninstall ----
mv "$moved" "$first"
made uninstall
(cd "$work/root" && find . | sort) >"$work/after"
diff "$work/before" "$work/after" || fail "uninstall leaves files or removes others"
rm -rf "$work/root"
made install >/dev/null
made uninstall
[ ! -e "$first" ] || fail "uninstall leaves folders that install created"
passed=$((passed + 1))
echo "$passed passed, 0 failed"
