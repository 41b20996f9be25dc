#!/bin/sh
# ltensor-ffi.lua of $BUILD (default build) under LuaJIT: tests/ffi/test.lua in luajit and in Neovim, and a program whose output is that
# of ltensor's own Lua.
set -eu
BUILD=${BUILD-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

# The C functions of all operations exist.
sed -n '/^shared.operations/,/^]]/p' "$BUILD/ltensor-ffi.lua" |
    awk 'NF > 3 { print $2; if ($3 ~ /i/) print $2 "_"; if ($3 ~ /o/) print $2 "_out" }' | sort -u >"$folder/called"
nm -D -P --defined-only "$BUILD/libltensor.so" | sed 's/[@ ].*//' | sort -u >"$folder/defined"
comm -23 "$folder/called" "$folder/defined" >"$folder/missing"
if [ "$(wc -l <"$folder/called")" -lt 1000 ] || [ -s "$folder/missing" ]; then
    echo "ffi.sh: libltensor.so does not have these functions:" >&2
    head -n 20 "$folder/missing" >&2
    exit 1
fi
passed=$((passed + 1))

if ! command -v luajit >/dev/null; then
    echo "ffi.sh: luajit is not installed: not tested"
    echo "0 passed, 0 failed"
    exit 0
fi
LUA_PATH="$PWD/$BUILD/?.lua;;" LTENSOR_FFI_FOLDER=$folder
export LUA_PATH LTENSOR_FFI_FOLDER
"$BUILD/ltensor" --disable-cuda -e "torch.manual_seed(1)
    local net, x = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), torch.ones(2, 4)
    torch.onnx.export(net, {x}, '$folder/digits.onnx')
    torch.save({output = net(x):detach()}, '$folder/expected.safetensors')"

# counts COMMAND...: runs it and adds the tests of its last line.
counts() {
    "$@" >"$folder/output" 2>&1 </dev/null || { cat "$folder/output" >&2; exit 1; }
    passed=$((passed + $(sed -n 's/^\([0-9]*\) passed, 0 failed.*/\1/p' "$folder/output")))
}

"$BUILD/ltensor" --disable-cuda tests/ffi/same.lua >"$folder/expected"
luajit tests/ffi/same.lua >"$folder/found"
diff "$folder/expected" "$folder/found" || { echo "ffi.sh: the output under luajit differs (>)" >&2; exit 1; }
passed=$((passed + $(grep -cE '^(--|[0-9]+	false)' "$folder/expected")))

# The first cell of the guide and its output.
{
    echo "local torch = require 'ltensor-ffi'"
    # shellcheck disable=SC2016
    sed -n '/^```lua/,/^```/{/^```/d;p}' docs/guide/luajit.md
} >"$folder/cell.lua"
# shellcheck disable=SC2016
sed -n '/^```text/,/^```/{/^```/d;p}' docs/guide/luajit.md >"$folder/expected"
luajit "$folder/cell.lua" >"$folder/found"
diff "$folder/expected" "$folder/found" || { echo "ffi.sh: the output of docs/guide/luajit.md differs (>)" >&2; exit 1; }
passed=$((passed + 1))

if command -v lua5.1 >/dev/null; then
    if lua5.1 -e "require 'ltensor-ffi'" >"$folder/output" 2>&1; then exit 1; fi
    grep -q 'ltensor-ffi.lua needs the FFI of LuaJIT 2.1, which Lua 5.1 lacks' "$folder/output"
    passed=$((passed + 1))
fi

counts luajit tests/ffi/examples.lua src/ops/*.lua
counts luajit tests/ffi/test.lua "$folder"
if command -v nvim >/dev/null; then
    counts nvim --headless -u NONE -i NONE -c 'luafile tests/ffi/test.lua' -c 'quitall!'
else
    echo "ffi.sh: nvim is not installed: not tested in Neovim"
fi
echo "$passed passed, 0 failed"
