#!/bin/sh
# make bench-distributed: two ranks of ltensor, of PyTorch with gloo and of mpi4py, each on one core, in rounds that alternate, as a
# Markdown table of medians. What is not installed is left out.
#
#   BUILD (build)   ROUNDS (3)   PYTHON
set -eu
cd "$(dirname "$0")/../../.."
export LC_ALL=C OMP_NUM_THREADS=1
ltensor=${BUILD:-build}/ltensor
here=tests/bench/distributed
rounds=${ROUNDS:-3}
python=${PYTHON:-python3}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
launch="mpirun.openmpi --oversubscribe --bind-to none -n 2"
[ "$(id -u)" -ne 0 ] || launch="$launch --allow-run-as-root"

has() { "$python" -c "import $1" >/dev/null 2>&1; }

round=1
while [ "$round" -le "$rounds" ]; do
    [ ! -t 2 ] || echo "round $round of $rounds" >&2
    $launch "$ltensor" $here/ranks.lua >>"$results/ltensor"
    NATIVE=1 $launch "$ltensor" $here/ranks.lua >>"$results/native"
    # What they have printed counts, however they end: gloo's threads abort the process now and then.
    if has torch; then $launch "$python" $here/ranks.py >>"$results/gloo" || echo "gloo ended with status $?" >&2; fi
    if has mpi4py; then $launch "$python" $here/ranks.py --mpi4py >>"$results/mpi4py" || echo "mpi4py ended with status $?" >&2; fi
    round=$((round + 1))
done

model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
echo "${model:-$(uname -m)}, 2 ranks on $(nproc --all) cores, medians of $rounds rounds."
echo
lua5.4 $here/report.lua "$results"
