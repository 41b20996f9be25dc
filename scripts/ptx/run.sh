#!/bin/sh
# Measures the machine code of the kernels: `make ptx-report`. Writes a table for each of $PTX_ARCHS
# to $BUILD/ptx/sm_<arch>.md and to standard output; exit status 1 if a rule of
# scripts/ptx/rules.lua is broken. $NVCC is the compiler, or empty; $ARCHS, the architectures of the
# objects under $BUILD: they are used if built for that architecture alone, otherwise others are
# built. The disassemblers cuobjdump and nvdisasm come from the toolkit, or from Python's package
# index into $BUILD/ptx/tools.
set -u
if [ -z "${NVCC-}" ]; then
    echo 'ptx-report: nvcc was not found: nothing is measured'
    exit 0
fi
# shellcheck disable=SC2153 # make's
tools=$PWD/$BUILD/ptx/tools
PATH=$PATH:$(dirname "$NVCC"):$tools/nvidia/cu13/bin
export PATH
mkdir -p "$BUILD/ptx"
if ! command -v nvdisasm >/dev/null || ! command -v cuobjdump >/dev/null; then
    python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --target "$tools" \
        nvidia-cuda-cuobjdump nvidia-cuda-nvdisasm >/dev/null 2>&1
fi
status=0
for arch in $PTX_ARCHS; do
    build=$BUILD
    [ "$ARCHS" = "$arch" ] || build=$BUILD/ptx/build-$arch
    # shellcheck disable=SC2086
    "${MAKE-make}" --no-print-directory BUILD="$build" CUDA=yes CUDA_ARCHS="$arch" ptx-objects || exit 1
    # shellcheck disable=SC2046
    "${LUA-lua5.4}" scripts/ptx/report.lua "$arch" "$BUILD/ptx/sm_$arch" scripts/ptx/hot.lua $(find "$build/obj/src/cuda" -name '*.cuda.o' | sort) \
        >"$BUILD/ptx/sm_$arch.md"
    result=$?
    cat "$BUILD/ptx/sm_$arch.md"
    case $result in
        0) ;;
        3) exit 0 ;; # it has said that a tool is missing
        *) status=1 ;;
    esac
done
exit $status
