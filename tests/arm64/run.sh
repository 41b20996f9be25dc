#!/bin/sh
# Runs the tests of an arm64 build under qemu: make test-arm64. Usage: tests/arm64/run.sh BUILD [MODE]
#
# Programs of the build are started through scripts, in BUILD/emulated, so that the kernel does not need
# binfmt_misc. tests/arm64/excluded has the suites that cannot run in this way, with the reasons. C tests alone are left out by
# skip_if_emulated (tests/core/emulated.h), tests of a spec by the tag native. QEMU_CPU selects a processor.
set -eu
build=$PWD/$1
folder=$build/emulated
emulator="$(command -v qemu-aarch64-static) -L /"
mkdir -p "$folder/tests"
for library in "$build"/*.so* "$build"/*.a "$build"/*.lua "$build/gen" "$build/tests/lib"; do
    ln -sfn "$library" "$folder/${library#"$build/"}"
done
for program in "$build/ltensor" "$build"/tests/*; do
    if [ -f "$program" ] && [ -x "$program" ]; then
        emulated=$folder/${program#"$build/"}
        printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$emulator" "$program" >"$emulated"
        chmod +x "$emulated"
    fi
done
LUA_PATH="$PWD/tests/arm64/modules/?.lua;${LUA_PATH-;}" export LUA_PATH
# Kernels from text are compiled for the emulated program.
CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ export CC CXX
LTENSOR_TEST_EMULATOR=$emulator LTENSOR_LIB_DIR=$build EXCLUDED=tests/arm64/excluded
export LTENSOR_TEST_EMULATOR LTENSOR_LIB_DIR EXCLUDED
BUILD=${folder#"$PWD/"} sh tests/run.sh "${2-emulated}"
