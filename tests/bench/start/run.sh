#!/bin/sh
# make bench-start: a program that multiplies two matrices (product.c), with the static library, with the shared one and with a library of
# that op alone (make MINIMAL=1); beside libtorch's twin where $LTENSOR_PYTHON has torch. Prints a page for docs/results. Uses $BUILD
# (default build), ROUNDS (default 101).
set -eu
BUILD=${BUILD-build}
rounds=${ROUNDS-101}
here=tests/bench/start
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libs='-Wl,--gc-sections -Wl,--as-needed -lsleef -lz -lcjson -lm -ldl -lpthread'

seconds() { # COMMAND...: how long it takes
    start=$(date +%s%N)
    "$@" || exit 1
    echo "$((($(date +%s%N) - start) / 10000000))" | sed 's/\(..\)$/.\1/; s/^\./0./'
}
megabytes() { awk -v n="$1" 'BEGIN { printf "%.2f", n / 1e6 }'; }
bytes() { cat "$@" | wc -c; }
# Files that a program maps as it starts, the C library's aside.
needed() {
    ldd "$1" | sed -n 's/.* => \(\/.*\) (0x.*/\1/p' | sort -u |
        grep -Ev '/(libc|libm|libdl|libpthread|librt|libmvec|ld-linux-x86-64)\.so' || true
}

cc -O2 -Wall -Wextra $here/measure.c -o "$work/measure"
echo mm >"$work/ops"
make --no-print-directory -s BUILD="$BUILD" MINIMAL=1 OPS="$work/ops" >/dev/null

# build KIND COMMAND...: compiles $work/KIND and strips it.
build() {
    kind=$1; shift
    seconds "$@" -o "$work/$kind" >"$work/$kind.seconds"
    strip "$work/$kind"
}
# shellcheck disable=SC2086
{
    build static cc -O2 -Iinclude -I"$BUILD/gen" $here/product.c "$BUILD/libltensor.a" $libs
    build minimal cc -O2 -Iinclude -I"$BUILD/minimal/gen" $here/product.c "$BUILD/minimal/libltensor.a" $libs
}
strip -o "$work/libltensor.so.0" "$BUILD/libltensor.so"
build shared cc -O2 -Iinclude -I"$BUILD/gen" $here/product.c -L"$BUILD" -Wl,-rpath,"$work" -lltensor
kinds='static minimal shared'
python=${LTENSOR_PYTHON-python3}
if "$python" -c 'import torch' 2>/dev/null; then
    torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')
    version=$("$python" -c 'import torch; print(torch.__version__.split("+")[0])')
    abi=$("$python" -c 'import torch; print(int(torch._C._GLIBCXX_USE_CXX11_ABI))')
    build torch c++ -O2 -std=c++20 -w -D_GLIBCXX_USE_CXX11_ABI="$abi" -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" \
        $here/product_torch.cpp -L"$torch/lib" -Wl,-rpath,"$torch/lib" -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10
    kinds="$kinds torch"
fi
for kind in $kinds; do
    [ "$("$work/$kind")" = 376 ] || { echo "start/run.sh: the product of $kind is not right" >&2; exit 1; }
done

# shellcheck disable=SC2046
"$work/measure" "$rounds" $(for kind in $kinds; do echo "$work/$kind"; done) >"$work/times"
blas=$(readlink -f "$(gcc -print-file-name=libopenblas.so.0)")

echo "# make bench-start, $(date +%Y-%m-%d)"
echo
echo "$(nproc) cores of an $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), $(uname -s), commit $(git rev-parse --short HEAD)${version:+, libtorch $version (CPU) beside it}."
echo "A program that multiplies two matrices of 64x64 floats and ends: $rounds rounds that alternate. Sizes are of stripped files; what it needs: the libraries that"
echo "are mapped as it starts, glibc's aside. OpenBLAS ($(megabytes "$(bytes "$blas")") MB) is opened by the first factorization, not by a product. Load of the machine: $(cut -d' ' -f1 /proc/loadavg)."
echo
echo "| program | its size, MB | with what it needs | shortest, ms | median, ms | processor, ms | resident, MB | compiling, s |"
echo "|---|---:|---:|---:|---:|---:|---:|---:|"
row=0
for kind in $kinds; do
    row=$((row + 1))
    case $kind in
        static) name='libltensor.a' ;;
        minimal) name="libltensor.a of \`mm\` alone" ;;
        shared) name='libltensor.so' ;;
        torch) name='libtorch' ;;
    esac
    size=$(bytes "$work/$kind")
    # shellcheck disable=SC2046
    whole=$((size + $(bytes /dev/null $(needed "$work/$kind"))))
    sed -n "${row}p" "$work/times" | {
        read -r shortest median processor resident
        echo "| $name | $(megabytes "$size") | $(megabytes "$whole") | $shortest | $median | $processor | $resident | $(cat "$work/$kind.seconds") |"
    }
done
