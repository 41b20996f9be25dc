#!/bin/sh
# Runs the test suites and ends with the counts. Usage: tests/run.sh quick|full|asan|tsan|checks|cuda|spec
#
#   quick  C tests, busted on the CPU, one notebook
#   full   everything: C tests, busted on the CPU and on 1 and 2 simulated GPUs, notebooks, the host
#   asan   full without the memory bounds, for a build with sanitizers
#   tsan   the tests of contexts, of streams and of ranks, for a build with ThreadSanitizer
#   checks the suite on 2 simulated GPUs that look at every access (make checked), by each of SEEDS; SPECS: some of it; a line per spec
#   cuda   the suite on the real GPU
#   spec   the specs SPEC="reductions repl/keys" on the CPU, or on GPUS=1|2 simulated ones; FILTER: those of its tests whose
#          titles match this pattern of Lua
# Each suite's log is shown only when it fails; what failed is named once more above the counts. Two suites run at
# once (LANES). Uses $BUILD (default build). BUSTED is the command that runs busted, TEST_LIBRARIES a folder of the
# libraries that the C tests need, TEST_BACKENDS one of the GPU backends where that is not $BUILD.
set -u
mode=${1-full}
BUILD=${BUILD-build}
LTENSOR_BIN=$PWD/$BUILD/ltensor
LTENSOR_BUILD=$PWD/$BUILD
export LTENSOR_BIN LTENSOR_BUILD
LUA_PATH="$PWD/tests/?.lua;$PWD/tests/lua/?.lua;${LUA_PATH-;}" export LUA_PATH
LUA_CPATH="$PWD/$BUILD/?.so;${LUA_CPATH-;}" export LUA_CPATH
ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=1:detect_stack_use_after_return=0} export ASAN_OPTIONS
# The checker of leaks crashes on the thread-local memory of oneDNN's threads: it leaves such memory out.
LSAN_OPTIONS=${LSAN_OPTIONS-use_tls=0:suppressions=$PWD/tests/lsan.supp:print_suppressions=0} export LSAN_OPTIONS
# Kernels that are generated for simulated GPUs are kept with the build.
XDG_CACHE_HOME=$PWD/$BUILD/cache export XDG_CACHE_HOME
BUSTED=${BUSTED-busted --lua=$LTENSOR_BIN}
# Suites that run at once: more than there are processors would miss what tests expect of time.
LANES=${LANES-$([ "$(nproc)" -gt 1 ] && [ "$mode" != tsan ] && [ "$mode" != cuda ] && echo 2 || echo 1)}
folder=$(mktemp -d)
failures=$folder/failures
started=0 shown=0 passed=0 failed=0 skipped=0
least=1 # tests of a suite that is not said to have failed
trap 'rm -rf "$folder"' EXIT
mkfifo "$folder/free"
exec 9<>"$folder/free"
for _ in $(seq "$LANES"); do echo >&9; done

# Adds up what a suite's log counts: cmocka's "[  PASSED  ] n test(s)", busted's "n successes / ...",
# and "n passed, m failed".
count() {
    awk '
        /\[  PASSED  \] [0-9]+ test/ { p += $4 }
        /\[  FAILED  \] [0-9]+ test/ { f += $4 }
        /successe?s? \/ [0-9]+ failures? \/ [0-9]+ errors? \/ [0-9]+ pending/ { p += $1; f += $4 + $7; s += $10 }
        /^[0-9]+ passed, [0-9]+ failed/ { p += $1; f += $3 }
        END { print p + 0, f + 0, s + 0 }' "$1"
}

# The failures in a suite's log, a few lines each: busted's, cmocka's, a notebook's, or else the log's end.
name_failures() { # name, log
    echo "$1:"
    awk '
        /^(Failure|Error) (→|->)/ { left = 7 }
        /\[  ERROR   \]|\[  FAILED  \]|^[-+] / { if (left < 1) left = 1 }
        left > 0 && shown < 60 { print "  " $0; left--; shown++; any = 1 }
        { last[NR % 8] = $0 }
        END { if (!any) for (i = NR - 7; i <= NR; i++) if (i > 0) print "  " last[i % 8] }' "$2"
}

# Shows the suites that have ended, in the order in which they were started.
show_ended() {
    while [ -f "$folder/$((shown + 1)).status" ]; do
        shown=$((shown + 1))
        name=$(cat "$folder/$shown.name") status=$(cat "$folder/$shown.status") log=$folder/$shown.log
        # shellcheck disable=SC2046
        set -- $(count "$log")
        [ "$status" -ne 0 ] && [ "$2" -eq 0 ] && set -- "$1" 1 "$3"
        if [ "$2" -gt 0 ] || [ "$1" -lt "$least" ]; then
            tail -n 200 "$log"
            name_failures "$name" "$log" >>"$failures"
            [ "$2" -eq 0 ] && set -- 0 1 0
        fi
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
        printf '%-44s %5d passed %4d failed\n' "$name" "$1" "$2"
        rm "$log"
    done
}

# Runs a command as a suite, as soon as a lane is free: name, command...
suite() {
    read -r _ <&9
    show_ended
    started=$((started + 1))
    echo "$1" >"$folder/$started.name"
    shift
    {
        "$@" >"$folder/$started.log" 2>&1 </dev/null 9>&-
        echo $? >"$folder/$started.ended"
        mv "$folder/$started.ended" "$folder/$started.status"
        echo >&9
    } &
}

# Every spec, in two suites of every other file: name, environment...
specs() {
    which=$1; shift
    for half in 0 1; do
        # shellcheck disable=SC2046,SC2086
        suite "$which, half $((half + 1))" env "$@" $BUSTED --helper=tests/lua/support/globals.lua -o plainTerminal ${EXCLUDE-} --pattern=_spec \
            $(find tests/lua -name '*_spec.lua' | sort | awk "NR % 2 == $half")
    done
}

# Some specs, which run many kernels in little time: name, their names, environment...
kernel_specs() {
    which=$1 chosen=$2; shift 2
    # shellcheck disable=SC2046,SC2086
    suite "$which" env "$@" $BUSTED --helper=tests/lua/support/globals.lua -o plainTerminal ${EXCLUDE-} --pattern=_spec \
        $(printf 'tests/lua/%s_spec.lua ' $chosen)
}

case $mode in
    quick | full | asan | tsan | checks | cuda) ;;
    spec)
        case ${GPUS:-0} in
            0) LTENSOR_TEST_DEVICE=cpu EXCLUDE= ;;
            1) LTENSOR_TEST_DEVICE=cuda EXCLUDE=--exclude-tags=cpu ;;
            *) LTENSOR_TEST_DEVICE=cuda:1 EXCLUDE=--exclude-tags=cpu ;;
        esac
        export LTENSOR_TEST_DEVICE
        [ "${GPUS:-0}" = 0 ] || export LTENSOR_SIM_GPUS="$GPUS" LTENSOR_SIM_CHECK=1
        # shellcheck disable=SC2046,SC2086
        $BUSTED --helper=tests/lua/support/globals.lua -o plainTerminal $EXCLUDE ${FILTER:+"--filter=$FILTER"} \
            $(printf 'tests/lua/%s_spec.lua ' ${SPEC-})
        exit
        ;;
    *) echo "usage: tests/run.sh quick|full|asan|tsan|checks|cuda|spec" >&2; exit 2 ;;
esac

if [ "$mode" = tsan ]; then
    # Tests of threads set their number. Programs that are wrong on purpose have the tag race.
    OMP_NUM_THREADS=1 export OMP_NUM_THREADS
    TSAN_OPTIONS="halt_on_error=1 exitcode=66 die_after_fork=0" export TSAN_OPTIONS
    LTENSOR_TSAN=1 export LTENSOR_TSAN
fi
# rss, speed: sanitizers have memory and time of their own. plain: programs and libraries that are not built with them.
# again: what other specs do, once more in another way.
[ "$mode" = quick ] && EXCLUDE=--exclude-tags=again
[ "$mode" = cuda ] && EXCLUDE=--exclude-tags=cpu
[ "$mode" = asan ] && EXCLUDE=--exclude-tags=rss,speed,plain LTENSOR_ASAN=1 && export LTENSOR_ASAN
for program in "$BUILD"/tests/*_test; do
    [ "$mode" = checks ] && break
    # The sanitizer does not know the locks of OpenBLAS and of its OpenMP runtime.
    case $mode$program in
        tsan*/context_* | tsan*/fork_*) options="TSAN_OPTIONS=$TSAN_OPTIONS ignore_noninstrumented_modules=1" ;;
        *) options=TSAN_OPTIONS=${TSAN_OPTIONS-} ;;
    esac
    [ -x "$program" ] && suite "$(basename "$program")" env "$options" ${TEST_LIBRARIES:+"LD_LIBRARY_PATH=$TEST_LIBRARIES"} \
        ${TEST_BACKENDS:+"LTENSOR_LIB_DIR=$TEST_BACKENDS"} "$program"
done

if [ "$mode" = tsan ]; then
    for spec in order pinned memory copies; do
        # shellcheck disable=SC2086
        suite "cuda_$spec" env LTENSOR_SIM_GPUS=2 $BUSTED -o plainTerminal --exclude-tags=race \
            "tests/lua/cuda_${spec}_spec.lua"
    done
    # MPI's own threads and locks are not known to the sanitizer.
    # shellcheck disable=SC2086
    suite distributed_race env "TSAN_OPTIONS=$TSAN_OPTIONS ignore_noninstrumented_modules=1" $BUSTED -o plainTerminal \
        tests/lua/distributed_race_spec.lua
elif [ "$mode" = checks ]; then
    EXCLUDE=--exclude-tags=rss,speed,race,cpu
    LTENSOR_SIM_CHECK=1 LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1 LTENSOR_LIB_DIR="$PWD/$BUILD/checked"
    export LTENSOR_SIM_CHECK LTENSOR_SIM_GPUS LTENSOR_TEST_DEVICE LTENSOR_LIB_DIR
    # Where the first seed had nothing to put in another order, the others are the same.
    least=0 seeds=${SEEDS-1 2 3 4 5 6 7 8 9 10}
    for seed in $seeds; do
        for spec in ${SPECS:-$(find tests/lua -name '*_spec.lua' | sort | sed 's|^tests/lua/||; s|_spec.lua$||')}; do
            used=$folder/used.$(echo "$spec" | tr / -)
            [ "$seed" = "${seeds%% *}" ] || [ -e "$used" ] || continue
            kernel_specs "$spec, SEED=$seed" "$spec" LTENSOR_SIM_SEED="$seed" LTENSOR_SIM_USED="$used"
        done
        wait
    done
elif [ "$mode" = cuda ]; then
    "$LTENSOR_BIN" -e 'if not torch.cuda.is_available() or torch.cuda.is_simulated() then
        io.stderr:write "tests/run.sh: there is no real GPU here\n" os.exit(1) end
        print(torch.cuda.get_device_name(0))' || exit 1
    specs "specs on the GPU" LTENSOR_TEST_DEVICE=cuda
else
    specs "specs on the CPU" LTENSOR_TEST_DEVICE=cpu
fi
if [ "$mode" = full ] || [ "$mode" = asan ]; then
    EXCLUDE="--exclude-tags=${EXCLUDE:+rss,speed,plain,}cpu"
    # What CUDA leaves open is decided by a seed: SEED=n make test tries another.
    SEED=${SEED-1} LTENSOR_SIM_CHECK=1 export LTENSOR_SIM_CHECK
    specs "specs on 1 simulated GPU, SEED=$SEED" LTENSOR_SIM_GPUS=1 LTENSOR_TEST_DEVICE=cuda LTENSOR_SIM_SEED="$SEED"
    # The host reaches no memory of these, where the processor has keys for that: without them it is too slow.
    specs "specs on 2 simulated GPUs" LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1 \
        LTENSOR_SIM_PROTECT="$(grep -qw ospke /proc/cpuinfo && echo 1 || echo 0)"
    # Kernels whose every access is looked at (make checked), and those for large tensors.
    if [ -f "$BUILD/checked/libltensor_sim.so" ]; then
        kernel_specs "kernels on 1 GPU with checks, SEED=$SEED" "indexing views optim draws cuda_vectors cuda_convolution attention" LTENSOR_SIM_GPUS=1 LTENSOR_TEST_DEVICE=cuda \
            LTENSOR_SIM_SEED="$SEED" LTENSOR_LIB_DIR="$PWD/$BUILD/checked"
    fi
    kernel_specs "compiled programs on 1 GPU without a compiler" "compile_reference compile_programs" CXX=none LTENSOR_SIM_GPUS=1 LTENSOR_TEST_DEVICE=cuda
    kernel_specs "kernels with 64-bit indices" "indexing views strides elementwise attention" LTENSOR_SIM_GPUS=1 LTENSOR_TEST_DEVICE=cuda LTENSOR_SIM_INDEX_LIMIT=1
    for n in 0 1 2; do
        for notebook in docs/notebooks/*.md docs/guide/*.md docs/book/06-gpus.md docs/index.md; do
            case $notebook in *README.md | */start.md) continue ;; esac # the latter is typed by tests/packages/tutorial.sh
            suite "$(basename "$notebook") on $n GPUs" "$LTENSOR_BIN" --sim-gpus $n --cells --check "$notebook"
        done
    done
    for notebook in docs/book/[0-9]*.md; do
        case $notebook in *06-gpus.md) continue ;; esac
        suite "$(basename "$notebook")" "$LTENSOR_BIN" --disable-cuda --cells --check "$notebook"
    done
elif [ "$mode" = quick ]; then
    suite "use-gpu.md on 2 GPUs" "$LTENSOR_BIN" --sim-gpus 2 --cells --check docs/notebooks/use-gpu.md
fi
if [ "$mode" = full ] && [ -f Makefile ]; then
    suite "what the libraries show and need" sh tests/libraries.sh
    suite "other hosts and other Luas" sh tests/hosts.sh
    suite "promises to older programs" sh tests/abi.sh
    suite "a library of chosen ops" sh tests/minimal.sh
    suite "packages, and examples built with them" sh tests/packages.sh
fi
[ "$mode" = full ] && [ -x "$BUILD/tests/python_host" ] &&
    suite "tensors shared with Python" "$BUILD/tests/python_host" tests/interop/exchange.py

if [ "$mode" = full ]; then
    if reason=$(sh tests/jupyter/run.sh --can); then
        suite "the kernel under Jupyter" sh tests/jupyter/run.sh
    else
        skipped=$((skipped + 1))
        echo "the kernel under Jupyter: skipped: $reason"
    fi
    if reason=$(sh tests/models/run.sh --can); then
        suite "models beside onnxruntime and PyTorch" sh tests/models/run.sh
    else
        skipped=$((skipped + 1))
        echo "models beside onnxruntime and PyTorch: skipped: $reason"
    fi
fi

wait
show_ended
echo
[ -s "$failures" ] && { echo "What failed:"; cat "$failures"; echo; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
