#!/bin/sh
# The examples of docs/examples, as a stranger would build them: against the installed library, found by pkg-config.
# Also: the headers alone, as C99, C11 and C++17 without a warning; the installed program and the module in a plain lua5.4. Uses $BUILD (default build).
set -eu
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
make --no-print-directory -s BUILD="${BUILD-build}" PREFIX="$prefix" install >/dev/null
PKG_CONFIG_PATH="$prefix/lib/pkgconfig" export PKG_CONFIG_PATH

# The headers are all that a program includes, whatever it warns of.
for header in ltensor.h ltensor_ops.h ltensor_lua.h ltensor_prompt.h; do
    echo "#include <$header>" > "$prefix/header.c"
    for compiler in 'gcc -std=c99' 'gcc -std=c11' 'g++ -x c++ -std=c++17' 'clang -std=c99' 'clang -std=c11' 'clang++ -x c++ -std=c++17'; do
        # shellcheck disable=SC2046,SC2086
        $compiler -Wall -Wextra -pedantic -Werror -fsyntax-only $(pkg-config --cflags ltensor_lua) "$prefix/header.c"
    done
done

# shellcheck disable=SC2046
cc docs/examples/host.c $(pkg-config --cflags --libs ltensor_lua lua5.4) ${HOST_FLAGS-} -o "$prefix/host"
LD_LIBRARY_PATH="$prefix/lib" "$prefix/host" > "$prefix/out"
expect() {
    grep -qF "$1" "$prefix/out" || { echo "host.sh: no line with '$1' in:" >&2; cat "$prefix/out" >&2; exit 1; }
}
expect 'the script added 1 to our own buffer: 2'
expect 'mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)'
expect 'the second state goes on: 3'
expect 'sum 33'
expect 'buffer given back 1 time'

# shellcheck disable=SC2046,SC2086
{
    cc -std=c99 -Wall -Wextra -pedantic -Werror docs/examples/train.c $(pkg-config --cflags --libs ltensor) ${HOST_FLAGS-} \
        -o "$prefix/train"
    c++ -std=c++17 -Wall -Wextra -pedantic -Werror docs/examples/infer.cpp $(pkg-config --cflags --libs ltensor) \
        ${HOST_FLAGS-} -o "$prefix/infer"
}
LD_LIBRARY_PATH="$prefix/lib" "$prefix/train" "$prefix/network.safetensors" > "$prefix/out"
expect '% of the points are on the right side'
LD_LIBRARY_PATH="$prefix/lib" "$prefix/infer" "$prefix/network.safetensors" > "$prefix/out"
expect '(0, 0) is inside'
expect '(1.9, 1.9) is outside'
expect 'an error: mat1 and mat2 shapes cannot be multiplied (4x1 and 4x1)'

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
