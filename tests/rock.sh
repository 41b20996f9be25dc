#!/bin/sh
# Rocks: luarocks make; and make binary-rock, then luarocks install into an empty tree. The module computes with the libraries of that
# tree alone, on the CPU and on a simulated GPU, the binary one also after the tree was moved. For Lua 5.4, and for 5.3 and 5.5 if they
# have a build (build-lua5.3).
# Skipped without luarocks. Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
command -v luarocks >/dev/null 2>&1 || { echo "rock.sh: luarocks is not installed" >&2; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
cat >"$work/probe.lua" <<'LUA'
local torch = require 'torch'
print(torch.arange(4), torch.ones(3, { device = 'cuda' }):sum():item())
for line in io.lines '/proc/self/maps' do
  for name in arg[2]:gmatch '%S+' do
    local library = line:match('/%S*' .. name .. '%S*')
    if library and not library:find(arg[1], 1, true) then print('elsewhere: ' .. library) end
  end
end
LUA
# run_probe VERSION TREE LIBRARIES: libraries that match the pattern are those of the tree.
run_probe() {
    LTENSOR_SIM_GPUS=1 LUA_CPATH="$2/lib/lua/$1/?.so" "lua$1" "$work/probe.lua" "$2" "$3" >"$work/out" 2>/dev/null ||
        { cat "$work/out" >&2; exit 1; }
    grep -qF 'tensor([0, 1, 2, 3])	3.0' "$work/out" || { echo "rock.sh: the module of Lua $1 is wrong:" >&2; cat "$work/out" >&2; exit 1; }
    if grep elsewhere "$work/out" >&2; then echo "rock.sh: the rock needs libraries outside of it" >&2; exit 1; fi
    passed=$((passed + 1))
}
check() { # version of Lua, folder of its build
    BUILD=$2 luarocks --lua-version "$1" --tree "$work/made" make >"$work/out" 2>&1 || { cat "$work/out" >&2; exit 1; }
    run_probe "$1" "$work/made" 'libltensor'

    make --no-print-directory -s BUILD="$2" LUA_NAME="lua$1" binary-rock >"$work/out"
    rock=$(cat "$work/out")
    luarocks --lua-version "$1" --tree "$work/tree" install "$rock" >"$work/out" 2>&1 || { cat "$work/out" >&2; exit 1; }
    rm -rf "$work/moved"
    mv "$work/tree" "$work/moved"
    run_probe "$1" "$work/moved" 'lib%w*ltensor libsleef libcjson libz%.'
    [ -f "$(find "$work/moved" -name 'libsleef*.copyright' | head -n 1)" ] || ! command -v dpkg-query >/dev/null ||
        { echo "rock.sh: the rock has no licence of SLEEF" >&2; exit 1; }
}
check 5.4 "$BUILD"
for other in 5.3 5.5; do
    [ ! -f "$BUILD-lua$other/torch.so" ] || ! pkg-config --exists "lua$other" || check $other "$BUILD-lua$other"
done
echo "$passed passed, 0 failed"
