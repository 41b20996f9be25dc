#!/bin/sh
# check.sh - whether what src/cuda/libraries declares of NVIDIA's libraries is what their headers declare and what their
# libraries contain. Needs no GPU: the packages of Python's index have both, in a folder of their own,
#
#   pip install --target DIR nvidia-cublas nvidia-cufft nvidia-cusolver nvidia-cusparse nvidia-cudnn-cu13 nvidia-nccl-cu13 nvidia-cuda-runtime nvidia-cuda-crt \
#       nvidia-cuda-cccl
#   make check-vendor LTENSOR_VENDOR=DIR
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
