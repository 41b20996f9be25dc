#!/bin/sh
# The example host, as a stranger would build it: against the installed library, found by pkg-config.
# Also: the installed program and the module in a plain lua5.4. Uses $BUILD (default build).
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
make --no-print-directory -s BUILD="${BUILD-build}" PREFIX="$prefix" install >/dev/null
PKG_CONFIG_PATH="$prefix/lib/pkgconfig" export PKG_CONFIG_PATH
# shellcheck disable=SC2046
cc docs/examples/host.c $(pkg-config --cflags --libs ltensor lua5.4) ${HOST_FLAGS-} -o "$prefix/host"
LD_LIBRARY_PATH="$prefix/lib" "$prefix/host" > "$prefix/out"
expect() {
    grep -qF "$1" "$prefix/out" || { echo "host.sh: no line with '$1' in:" >&2; cat "$prefix/out" >&2; exit 1; }
}
expect 'the script added 1 to our own buffer: 2'
expect 'mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)'
expect 'the second state goes on: 3'
expect 'sum 33'
expect 'buffer given back 1 time'
"$prefix/bin/ltensor" -e 'print(torch.ones(2, 3):sum():item())' > "$prefix/out"
expect '6.0'
LTENSOR_SIM_GPUS=1 "$prefix/bin/ltensor" --no-copies -e 'print(torch.ones(2, {device = "cuda"}):sum():item())' > "$prefix/out"
expect '2.0'
LUA_CPATH="$prefix/lib/lua/5.4/?.so" lua5.4 -e "local torch = require 'torch'; print(torch.arange(4))" > "$prefix/out"
expect 'tensor([0, 1, 2, 3])'
LTENSOR_SIM_GPUS=1 LUA_CPATH="$prefix/lib/lua/5.4/?.so" lua5.4 -e \
    "local torch = require 'torch'; print(torch.ones(3, {device = 'cuda'}):sum():item())" > "$prefix/out" 2>/dev/null
expect '3.0'
echo "1 passed, 0 failed"
