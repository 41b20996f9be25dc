#!/bin/sh
# What strangers build: `make install` into a folder, then against it alone
#
#   the headers, as C99, C11 and C++17 by gcc and clang, without a warning
#   docs/examples, as C99 and C++17, with the shared and with the static libraries, by pkg-config and by CMake; run (of CMake's, two);
#   the one in Python too, where there is NumPy
#   the installed program, and the module in a plain lua5.4
#
# Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
work=$(mktemp -d)
prefix=$work/prefix
trap 'rm -rf "$work"' EXIT
passed=0
make --no-print-directory -s BUILD="$BUILD" PREFIX="$prefix" install >/dev/null
PKG_CONFIG_PATH="$prefix/lib/pkgconfig" export PKG_CONFIG_PATH

# expect TEXT: stands in what the last program said.
expect() {
    grep -qF -e "$1" "$work/out" || { echo "packages.sh: no line with '$1' in:" >&2; cat "$work/out" >&2; exit 1; }
}

# ---- headers ----
for header in ltensor.h ltensor_binding.h ltensor_device.h ltensor_files.h ltensor_host.h ltensor_messages.h ltensor_register.h ltensor_threads.h ltensor_plugin.h ltensor_ops.h ltensor_lua.h ltensor_script.h ltensor_model.h ltensor_lm.h ltensor_prompt.h; do
    echo "#include <$header>" >"$work/header.c"
    for compiler in 'gcc -std=c99' 'gcc -std=c11' 'g++ -x c++ -std=c++17' 'clang -std=c99' 'clang -std=c11' 'clang++ -x c++ -std=c++17'; do
        # shellcheck disable=SC2046,SC2086
        $compiler -Wall -Wextra -pedantic -Werror -fsyntax-only $(pkg-config --cflags ltensor_lua) "$work/header.c"
    done
done
for compiler in 'g++ -x c++ -std=c++17' 'clang++ -x c++ -std=c++20'; do
    echo '#include <ltensor.hpp>' >"$work/header.cpp"
    # shellcheck disable=SC2046,SC2086
    $compiler -Wall -Wextra -pedantic -Werror -fsyntax-only $(pkg-config --cflags ltensor) "$work/header.cpp"
done
# The structs of Arrow may come from its own header.
printf '%s\n' '#define ARROW_C_DATA_INTERFACE' 'struct ArrowSchema { int theirs; };' 'struct ArrowArray { int theirs; };' \
    '#include <ltensor.h>' >"$work/header.c"
# shellcheck disable=SC2046
gcc -std=c99 -Wall -Wextra -pedantic -Werror -fsyntax-only $(pkg-config --cflags ltensor) "$work/header.c"
passed=$((passed + 1))

# ---- what shells and Jupyter read ----
for file in man/man1/ltensor.1 bash-completion/completions/ltensor zsh/site-functions/_ltensor fish/vendor_completions.d/ltensor.fish; do
    grep -q 'sim-gpus\|sim\\-gpus' "$prefix/share/$file" || { echo "packages.sh: $file does not know the options" >&2; exit 1; }
done
if [ -f "$BUILD/libltensor_jupyter.so" ]; then
    grep -qF "\"$prefix/bin/ltensor\"" "$prefix/share/jupyter/kernels/ltensor/kernel.json"
    "$prefix/bin/ltensor" --doctor | grep -q '^ok *Jupyter '
fi
passed=$((passed + 1))

# ---- examples ----
# run_examples FOLDER: the programs in it.
run_examples() {
    "$1/host" >"$work/out"
    expect 'the script added 1 to our own buffer: 2'
    expect 'mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)'
    expect 'the second state goes on: 3'
    expect 'sum 33'
    expect 'buffer given back 1 time'
    "$1/train" "$work/network.safetensors" >"$work/out"
    expect '% of the points are on the right side'
    "$1/infer" "$work/network.safetensors" >"$work/out"
    expect '(0, 0) is inside'
    expect '(1.9, 1.9) is outside'
    expect 'an error: mat1 and mat2 shapes cannot be multiplied (4x1 and 4x1)'
    for network in lenet resnet18 tagger transformer; do
        "$1/$network" "$work/$network.safetensors" >"$work/out"
        expect 'step 5: loss '
    done
    "$1/audio" >"$work/out"
    expect '100 blocks of 128 samples, the loudest is'
    "$1/plugins" >"$work/out"
    expect 'invert: the first pixel is 255'
    expect 'blur: the first pixel is 1.11111'
    expect 'endless: the deadline of 2 seconds has passed'
    expect "thief: thief:1: attempt to index a nil value (global 'io')"
    expect "not permitted: writing the file '/tmp/stolen.pt'"
    expect 'out of memory'
    expect 'wrong: wrong:1: '
    "$prefix/bin/ltensor" -e "torch.onnx.export(nn.Sequential(nn.AvgPool2d{16, 4}, nn.Flatten()), torch.randn(1, 1, 16, 32), '$work/columns.onnx')"
    "$1/model" "$work/columns.onnx" 1 16 32 >"$work/out"
    expect 'frame 1: output 1 of 8 is the largest'
    expect 'frame 8: output 8 of 8 is the largest'
    "$prefix/bin/ltensor" -e "torch.manual_seed(1)
      torch.onnx.export(nn.Sequential(nn.Flatten(), nn.Linear(512, 32), nn.Tanh(), nn.Linear(32, 2)), torch.randn(1, 1, 16, 32),
        '$work/halves.onnx', { input_names = { 'frames' }, dynamic_axes = { frames = { 'n' } } })"
    "$1/finetune" "$work/halves.onnx" 3 16 32 "$work/last.safetensors" >"$work/out"
    expect 'step 200: loss 0.0'
    expect '32 of 32 frames are right'
    expect 'the layer is kept in '
    "$prefix/bin/ltensor" -e "print(torch.load('$work/last.safetensors').weight.shape)" >"$work/out"
    expect 'torch.Size([2, 32])'
    "$prefix/bin/ltensor" -e "local tiny = dofile 'tests/lua/support/tiny_llama.lua'
      torch.manual_seed(5)
      io.open('$work/tiny.gguf', 'wb'):write((tiny.text(tiny.tokenizer())))"
    "$1/generate" "$work/tiny.gguf" abc >"$work/out"
    expect '2 tokens were read and '
    "$1/ring" >"$work/out"
    expect 'moment 6: brightness 60, in the ring'
    expect 'the ring is given back'
    "$1/pool" >"$work/out"
    expect 'product 1000, threads of the library 0, calls by the pool: yes'
    "$1/server" >"$work/out" # which fails when a seed gives two answers
    expect 'much 3: error: out of memory: you tried to allocate'
    expect 'long 4: error: the deadline of 2 seconds has passed'
    expect "file 5: error: not permitted: reading the file '/etc/passwd'"
    passed=$((passed + 1))
}

# By pkg-config. Examples with Lua in them say so by their include.
for kind in '' -static; do
    mkdir "$work/examples$kind"
    for source in docs/examples/*.c docs/examples/*/*.c docs/examples/*.cpp; do
        name=$(basename "${source%.*}") package=ltensor
        grep -q 'include.*ltensor_\(lua\|script\|model\|lm\)\.h' "$source" && package=ltensor_lua
        case $source in *.cpp) compiler='c++ -std=c++17' ;; *) compiler='cc -std=c99' ;; esac
        # shellcheck disable=SC2046,SC2086
        $compiler -Wall -Wextra -pedantic -Werror "$source" $(pkg-config --cflags --libs "$package$kind") ${HOST_FLAGS-} -lm \
            -o "$work/examples$kind/$name"
    done
done
LD_LIBRARY_PATH="$prefix/lib" run_examples "$work/examples"
run_examples "$work/examples-static"
if readelf -d "$work"/examples-static/* | grep 'NEEDED.*ltensor'; then echo "packages.sh: a static example needs a shared library" >&2; exit 1; fi

for python in ${LTENSOR_PYTHON-python3 /usr/bin/python3}; do
    "$python" -c 'import numpy' 2>/dev/null || continue
    "$python" docs/examples/pytorch.py "$prefix/lib/libltensor.so" >"$work/out"
    expect 'NumPy sees what ltensor wrote: [2.0, 2.0, 2.0]'
    expect 'NumPy holds the memory: 6000.0 True'
    expect 'ltensor sees what NumPy wrote: [10.0, 1.0, 2.0, 3.0]'
    expect 'NumPy sees what ltensor added: [20.0, 2.0, 4.0, 6.0]'
    expect 'ltensor holds the memory: [20.0, 2.0, 4.0, 6.0]'
    if "$python" -c 'import torch' 2>/dev/null; then
        expect 'ltensor sees what PyTorch wrote: [[1.0, 5.0], [1.0, 1.0]]'
        expect 'PyTorch sees what ltensor added: [[2.0, 10.0], [2.0, 2.0]]'
        expect 'PyTorch computes with what ltensor wrote: 1.59861'
    fi
    expect 'bytes that are still in use: 0'
    passed=$((passed + 1))
    break
done

# A program of one operation is small: most of it are loops for three instruction sets, with the functions inside that they call.
# shellcheck disable=SC2046
cc -O2 -std=c99 tests/bench/start/product.c $(pkg-config --cflags --libs ltensor-static) -Wl,--as-needed -o "$work/product"
[ "$("$work/product")" = 376 ] || { echo "packages.sh: the product is not right" >&2; exit 1; }
strip "$work/product"
size=$(wc -c <"$work/product")
[ "$size" -le 6000000 ] || { echo "packages.sh: a static program of one product has $size bytes" >&2; exit 1; }
passed=$((passed + 1))

# By CMake, with both kinds of libraries in one folder.
if ! cmake -S tests/packages -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DEXAMPLES="$PWD/docs/examples" >"$work/out" 2>&1 ||
    ! cmake --build "$work/cmake" >"$work/out" 2>&1; then
    cat "$work/out" >&2
    exit 1
fi
for program in host host_static train train_static; do # the others are linked in the same way
    "$work/cmake/$program" "$work/network.safetensors" >"$work/out"
    expect "$(case $program in host*) echo 'sum 33' ;; *) echo '% of the points are on the right side' ;; esac)"
done
sed 's/ltensor 0.2/ltensor 9.9/' tests/packages/CMakeLists.txt >"$work/CMakeLists.txt"
if cmake -S "$work" -B "$work/later" -DCMAKE_PREFIX_PATH="$prefix" >"$work/out" 2>&1; then
    echo "packages.sh: CMake takes version 9.9 for there" >&2
    exit 1
fi
passed=$((passed + 1))

# ---- the program and the module ----
"$prefix/bin/ltensor" -e 'print(torch.ones(2, 3):sum():item())' >"$work/out"
expect '6.0'
LTENSOR_SIM_GPUS=1 "$prefix/bin/ltensor" --no-copies -e 'print(torch.ones(2, {device = "cuda"}):sum():item())' >"$work/out"
expect '2.0'
LUA_CPATH="$prefix/lib/lua/5.4/?.so" lua5.4 -e "local torch = require 'torch'; print(torch.arange(4))" >"$work/out"
expect 'tensor([0, 1, 2, 3])'
LTENSOR_SIM_GPUS=1 LUA_CPATH="$prefix/lib/lua/5.4/?.so" lua5.4 -e \
    "local torch = require 'torch'; print(torch.ones(3, {device = 'cuda'}):sum():item())" >"$work/out" 2>/dev/null
expect '3.0'
passed=$((passed + 1))

# ---- the modules for other Luas, which have their builds, beside the one for Lua 5.4 ----
for other in 5.3 5.5; do
    [ -f "$BUILD-lua$other/torch.so" ] || continue
    pkg-config --exists "lua$other" || continue
    make --no-print-directory -s BUILD="$BUILD-lua$other" LUA_NAME="lua$other" PREFIX="$prefix" install >/dev/null
    for version in "$other" 5.4; do
        LTENSOR_SIM_GPUS=1 LD_BIND_NOW=1 LUA_CPATH="$prefix/lib/lua/$version/?.so" "lua$version" -e \
            "local torch = require 'torch'; print(_VERSION, torch.ones(3, {device = 'cuda'}):sum():item())" >"$work/out" 2>/dev/null
        expect "Lua $version	3.0"
    done
    passed=$((passed + 1))
done

# ---- a plugin ----
# shellcheck disable=SC2046
cc -std=c99 -Wall -Wextra -pedantic -Werror -shared -fPIC tests/abi/plugin/plugin.c $(pkg-config --cflags ltensor) -o "$work/plugin.so"
"$prefix/bin/ltensor" -e "torch.ops.load_library '$work/plugin.so'
    local x = torch.ones(2, {dtype = torch.float64, requires_grad = true})
    torch.ops.frozen.scale(x, 3):backward(x:detach():clone())
    print(x.grad, (select(2, torch.ops.frozen.facts(x))))" >"$work/out"
expect 'tensor([3., 3.], dtype=torch.float64)	true'
passed=$((passed + 1))

# What a debugger needs lies beside, under the name that the stripped file says.
for file in bin/ltensor lib/libltensor.so lib/libltensor_lua.so lib/ltensor/libltensor_sim.so; do
    real=$(readlink -f "$prefix/$file")
    debug=$(dirname "$real")/.debug/$(readelf --string-dump=.gnu_debuglink "$real" | sed -n 's/.*  \([^ ]*\.debug\)$/\1/p')
    readelf -S "$debug" 2>/dev/null | grep -q '\.debug_info' || { echo "packages.sh: no debug information for $file" >&2; exit 1; }
    if readelf -S "$real" | grep '\.debug_info'; then echo "packages.sh: $file is not stripped" >&2; exit 1; fi
done
passed=$((passed + 1))

echo "$passed passed, 0 failed"
