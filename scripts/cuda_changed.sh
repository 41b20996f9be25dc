#!/bin/sh
# Lists the CUDA sources that have changed since nvcc last compiled them: scripts/cuda_changed.sh
# list|record
#
#   list    prints each .cu file for which its code, the code of an included file or nvcc's flags differ from
#           .ci/cuda-checked; comments and blank lines do not count
#   record  writes .ci/cuda-checked after nvcc has compiled the listed files: a hash per file, to be committed
#
# Uses the dependencies recorded with the simulator's objects in $BUILD (*.sim.d), so build first.
# The simulator's own headers replace CUDA's and do not count. Files of libraries/opening have no
# simulator object: for them, all headers of libraries/ count.
set -eu
BUILD=${BUILD-build}
checked=.ci/cuda-checked
flags=$(grep -h -e NVCC -e GENCODE mk/*.mk)

# The files that a source is compiled from.
parts() {
    deps=$BUILD/obj/${1%.cu}.sim.d
    if [ -f "$deps" ]; then
        sed -e 's/\\$//' -e 's/^[^ ]*://' "$deps" | tr -s ' ' '\n' | grep -v -e '^$' -e '^/' -e '^src/cuda/sim/' | LC_ALL=C sort -u
    else
        find "$1" src/cuda/libraries -name '*.h' -o -path "$1" | LC_ALL=C sort -u
    fi
}

hashes() {
    for source in $(find src/cuda -name '*.cu' -not -path 'src/cuda/sim/*' | LC_ALL=C sort); do
        # shellcheck disable=SC2002,SC2046
        code=$(cat $(parts "$source") | cpp -fpreprocessed -dD -P -x c++ - 2>/dev/null)
        echo "$(printf '%s\n' "$flags" "$code" | sha256sum | cut -c 1-32) $source"
    done
}

case ${1-} in
    list) hashes | if [ -f $checked ]; then grep -vxFf $checked || true; else cat; fi | cut -d ' ' -f 2 ;;
    record)
        hashes >$checked.new
        mv $checked.new $checked
        ;;
    *)
        echo "usage: scripts/cuda_changed.sh list|record" >&2
        exit 2
        ;;
esac
