#!/bin/sh
# make bench: times ltensor, and PyTorch beside it when a Python with torch is found ($PYTHON, then
# python3), and prints one Markdown table: medians of the rounds, of ops and layers of the least sample of each. Rounds alternate between the two, and the samples of ops and layers do, so that a
# machine that is busy for a while is busy for both; both use the same number of threads.
#
#   BUILD (build)   ROUNDS (3)   OMP_NUM_THREADS (all cores)   PYTHON
#   SAMPLE (0.03): how many seconds a sample lasts, of which a row takes five a round   ROWS: a pattern; only ops with such names
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C
ltensor=${BUILD:-build}/ltensor
rounds=${ROUNDS:-3}
[ -z "${ROWS-}" ] || export ROWS
export SAMPLE="${SAMPLE:-0.03}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-$(nproc)}"
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

python=
for candidate in ${PYTHON:-} python3; do
    if "$candidate" -c 'import torch' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done

[ -z "$python" ] || mkfifo "$results/ours" "$results/theirs"

# Milliseconds of each run of a command, start and exit included.
start_and_exit() {
    runs=$1
    shift
    while [ "$runs" -gt 0 ]; do
        begin=$(date +%s%N)
        "$@" >/dev/null 2>&1
        end=$(date +%s%N)
        echo $((end - begin)) | awk '{ printf "start and exit\tms\t%.3f\n", $1 / 1e6 }'
        runs=$((runs - 1))
    done
}

# Seconds of each epoch but the first, from lines that end in "0.13 s".
epochs() {
    sed -n '2,$s/.*[[:space:]]\([0-9.]*\) s$/softmax regression, epoch\ts\t\1/p'
}

# The rows of a file, a sample of ours and one of PyTorch's in turn.
in_turns() {
    if [ -z "$python" ]; then
        "$ltensor" "tests/bench/$1.lua" >>"$results/ltensor"
        return
    fi
    TURN_FROM="$results/theirs" TURN_TO="$results/ours" "$python" "tests/bench/$1.py" >>"$results/torch" &
    TURN_FROM="$results/ours" TURN_TO="$results/theirs" "$ltensor" "tests/bench/$1.lua" >>"$results/ltensor"
    wait $!
}

round=1
# shellcheck disable=SC2129
while [ "$round" -le "$rounds" ]; do
    [ ! -t 2 ] || echo "round $round of $rounds" >&2
    start_and_exit 10 "$ltensor" -e '' >>"$results/ltensor"
    "$ltensor" tests/bench/bench.lua >>"$results/ltensor"
    "$ltensor" tests/bench/training.lua >>"$results/ltensor"
    "$ltensor" scripts/softmax_regression.lua --epochs 4 | epochs >>"$results/ltensor"
    if [ -n "$python" ]; then
        start_and_exit 2 "$python" -c 'import torch' >>"$results/torch"
        "$python" tests/bench/bench.py >>"$results/torch"
        "$python" tests/bench/training.py >>"$results/torch"
        "$python" tests/bench/softmax_regression.py --epochs 4 | epochs >>"$results/torch"
    fi
    in_turns ops
    in_turns layers
    round=$((round + 1))
done

model=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
echo "${model:-$(uname -m)}, $OMP_NUM_THREADS threads, medians of $rounds rounds."
if [ -n "$python" ]; then
    echo "PyTorch $("$python" -c 'import torch; print(torch.__version__)')."
    lua5.4 tests/bench/report.lua "$results/ltensor" "$results/torch"
else
    echo "No Python with torch was found, so there is nothing to compare with."
    lua5.4 tests/bench/report.lua "$results/ltensor"
fi
