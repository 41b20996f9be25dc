#!/bin/sh
# Random expressions until MINUTES are over: expressions.sh BUILD MINUTES SEED. With PyTorch (LTENSOR_PYTHON names a Python that has it) beside
# it, else each on the CPU and on the second of two simulated GPUs, as tests/lua/random_expressions_spec.lua does.
set -u
build=$1 minutes=$2 seed=$3
end=$(lua5.4 -e "print(os.time() + math.floor($minutes * 60))")
file=$(mktemp)
trap 'rm -f "$file" "$file.out"' EXIT
LTENSOR_BIN=$PWD/$build/ltensor LTENSOR_BUILD=$PWD/$build OMP_WAIT_POLICY=passive
LUA_PATH="$PWD/tests/?.lua;$PWD/tests/lua/?.lua;;"
ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=0:detect_stack_use_after_return=0} UBSAN_OPTIONS=${UBSAN_OPTIONS-halt_on_error=1:print_stacktrace=1}
export LTENSOR_BIN LTENSOR_BUILD OMP_WAIT_POLICY LUA_PATH ASAN_OPTIONS UBSAN_OPTIONS
rounds=0 bad=0
echo "expressions: seed $seed"
while [ "$(date +%s)" -lt "$end" ]; do
    if [ -n "${LTENSOR_PYTHON-}" ]; then
        if "$LTENSOR_BIN" tests/fuzz/expressions.lua "$seed" 2000 >"$file" 2>"$file.out"; then
            "$LTENSOR_PYTHON" -W ignore tests/fuzz/torch_twin.py "$file" >"$file.out" 2>&1 || { echo "seed $seed"; cat "$file.out"; bad=$((bad + 1)); }
        else
            echo "seed $seed: expressions.lua ended with $?"; cat "$file.out"; bad=$((bad + 1))
        fi
    else
        LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1 LTENSOR_TEST_SEED=$seed LTENSOR_TEST_EXPRESSIONS=40 busted "--lua=$LTENSOR_BIN" -o plainTerminal \
            tests/lua/random_expressions_spec.lua >"$file" 2>&1 </dev/null || { tail -n 40 "$file"; bad=$((bad + 1)); }
    fi
    rounds=$((rounds + 1)) seed=$((seed + 1))
done
echo "expressions: $rounds rounds, $bad with differences"
[ "$bad" -eq 0 ]
