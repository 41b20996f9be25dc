#!/bin/sh
# check.sh - whether what src/cuda/libraries declares of NVIDIA's libraries is what their headers declare and what their
# libraries contain; and whether NVRTC compiles generated kernels, without spills. Needs no GPU: the packages of Python's index have both, in a folder of their own,
#
#   pip install --target DIR nvidia-cublas nvidia-cufft nvidia-cusolver nvidia-cusparse nvidia-cudnn-cu13 nvidia-nccl-cu13 nvidia-cuda-nvrtc nvidia-cuda-runtime \
#       nvidia-cuda-crt nvidia-cuda-cccl
#   make check-vendor LTENSOR_VENDOR=DIR
#
# Releases of NVRTC differ in what they take (13.0 no generic lambda): once with the newest, once with nvidia-cuda-nvrtc==13.0.*
set -eu
cd "$(dirname "$0")/../.."
if [ -z "${LTENSOR_VENDOR-}" ]; then
    echo "vendor check left out: LTENSOR_VENDOR names no folder with NVIDIA's headers and libraries (this script's first lines say how to get them)"
    exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
includes=$(find "$LTENSOR_VENDOR" -type d \( -name include -o -name cccl \) | sed 's/^/-I/')
libraries=$(find "$LTENSOR_VENDOR" -type d -name lib | tr '\n' ':')
# shellcheck disable=SC2086
"${CXX-c++}" -std=c++17 -w $includes -Iinclude -I"${BUILD-build}/gen" -Isrc/cuda tests/vendor/signatures.cpp -o "$out/signatures" -ldl
LD_LIBRARY_PATH=$libraries "$out/signatures"

fusion=src/cuda/kernels/compile
"${CXX-c++}" -std=c++17 -O1 -Iinclude -I"${BUILD-build}/gen" -Isrc/core -Isrc/cuda/sim/include -Isrc/cuda tests/vendor/fused.cpp \
    -x c++ $fusion/plan.cu $fusion/source.cu -o "$out/fusions" -ldl
mkdir "$out/images"
# shellcheck disable=SC2086
LD_LIBRARY_PATH=$libraries "$out/fusions" "$out/images" ${LTENSOR_VENDOR_ARCHS-75 90 100}
# Registers and stack of each, where the toolkit's tool is here: what sin and cos of doubles have is 40 bytes.
if command -v cuobjdump >/dev/null; then
    for image in "$out"/images/*; do cuobjdump -res-usage "$image" | grep REG: | sed "s|^|$(basename "$image")|"; done |
        awk '{ match($0, /REG:[0-9]+/); r = substr($0, RSTART + 4, RLENGTH - 4); match($0, /STACK:[0-9]+/); s = substr($0, RSTART + 6, RLENGTH - 6)
               match($0, /LOCAL:[0-9]+/); l = substr($0, RSTART + 6, RLENGTH - 6)
               if (r + 0 > most) most = r + 0
               if (s + 0 > 64 || l + 0 > 0) { print "spills: " $0; bad = 1 } }
             END { print "generated kernels: at most " most " registers"; exit bad }'
fi
