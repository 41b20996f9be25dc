#!/bin/sh
# make bench-cuda: measures this machine's GPU with ltensor, and with PyTorch when a Python with torch is found
# ($PYTHON, then python3), alternately; writes docs/results/<date>-<device>.md and .json and prints the first.
# A simulated GPU is refused.
#
#   BUILD (build)   ROUNDS (3)   PYTHON
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C
ltensor=${BUILD:-build}/ltensor
rounds=${ROUNDS:-3}
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

python=
for candidate in ${PYTHON:-} python3; do
    if "$candidate" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done

# The first run refuses when there is no real GPU.
round=1
while [ "$round" -le "$rounds" ]; do
    [ ! -t 2 ] || echo "round $round of $rounds" >&2
    "$ltensor" --no-copies tests/bench/bench_cuda.lua >>"$results/ltensor"
    [ -z "$python" ] || "$python" tests/bench/bench_cuda.py >>"$results/torch"
    round=$((round + 1))
done
for exercise in big_and_small parameters logging two_gpus; do
    "$ltensor" --no-copies "scripts/$exercise.lua" >"$results/$exercise.txt" 2>&1 || true
done

{
    date -u '+date	%Y-%m-%d'
    printf 'commit\t%s\n' "$(git rev-parse HEAD 2>/dev/null || cat tests/commit 2>/dev/null || echo unknown)"
    [ -z "$(git status --porcelain 2>/dev/null)" ] || printf 'modified\tyes\n'
    printf 'rounds\t%s\n' "$rounds"
    "$ltensor" -e 'local p = torch.cuda.get_device_properties(0)
        print(("device\t%s\nmemory\t%d\nltensor\t%s"):format(p.name, p.total_memory, torch.__version__))'
    [ -z "$python" ] || "$python" -c 'import torch; print(f"pytorch\t{torch.__version__}")'
} >"$results/about"
exec "$ltensor" tests/bench/report_cuda.lua "$results" docs/results
