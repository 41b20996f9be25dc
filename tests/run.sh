#!/bin/sh
# Runs the test suites and ends with the counts. Usage: tests/run.sh MODE
#
#   quick   C tests, the specs on the CPU without #again, one notebook; a sample of the long sweeps, whose seed is printed
#   ci      as full, but on 2 GPUs only the specs that name a device, and a sample of the long sweeps
#   full    all: C tests, the specs on the CPU and on 1 and 2 simulated GPUs, notebooks, hosts, packages
#   asan    full without the bounds on memory, for a build with sanitizers
#   tsan    the tests of contexts, of streams and of ranks, for a build with ThreadSanitizer
#   checks  the specs on 2 simulated GPUs with each access checked (make checked), for each of SEEDS; SPECS: some of them
#   cuda    the specs on the real GPU
#   lua     the C tests of the binding and the specs of Lua's own features, for a build for another Lua (make LUA_NAME=lua5.3)
#   emulated  the C tests and the specs on the CPU without #again, rss, speed and native, on an emulated processor (make test-arm64);
#           SPECS: some specs alone. EXCLUDED: a file of suites to leave out, a line each, the reason after the name
#   static  the C tests and a choice of specs, for a program without shared libraries (make test-static); EXCLUDED as above
#   smoke   a few specs on the CPU and on 2 simulated GPUs, one notebook: for the tarball
#   spec    the specs SPEC="reductions repl/keys" on the CPU, on GPUS=1|2 simulated ones, or on GPUS=real or real:1, a real one;
#           FILTER: their tests with titles that match this pattern of Lua
#
# A spec, a test program, a notebook is a suite: one process. A suite's log is shown only when it fails; the failures are listed once
# more above the counts, after the slowest suites. Some suites run at the same time (LANES). Uses $BUILD (default build). BUSTED is the
# command that runs busted, TEST_LIBRARIES a folder of the libraries that the C tests need, TEST_BACKENDS one of the GPU backends where
# that is not $BUILD. SEED decides the order that CUDA leaves open; SAMPLE_SEED=n repeats the sample of an earlier run.
set -u
mode=${1-full}
BUILD=${BUILD-build}
LTENSOR_BIN=$PWD/$BUILD/ltensor
LTENSOR_BUILD=$PWD/$BUILD
export LTENSOR_BIN LTENSOR_BUILD
LUA_PATH="$PWD/tests/?.lua;$PWD/tests/lua/?.lua;${LUA_PATH-;}" export LUA_PATH
LUA_CPATH="$PWD/$BUILD/?.so;${LUA_CPATH-;}" export LUA_CPATH
ASAN_OPTIONS=${ASAN_OPTIONS-detect_leaks=1:detect_stack_use_after_return=0} export ASAN_OPTIONS
# The leak checker crashes on the thread-local memory of oneDNN's threads, so it leaves such memory out.
LSAN_OPTIONS=${LSAN_OPTIONS-use_tls=0:suppressions=$PWD/tests/lsan.supp:print_suppressions=0} export LSAN_OPTIONS
# Kernels that are generated for simulated GPUs are kept with the build.
XDG_CACHE_HOME=$PWD/$BUILD/cache export XDG_CACHE_HOME
BUSTED=${BUSTED-busted --lua=$LTENSOR_BIN}
HELPER=--helper=tests/lua/support/globals.lua
lua=$("$LTENSOR_BIN" -e 'print(_VERSION)')
# The tag lua54: Lua 5.3 lacks a feature that the test needs (docs/guide/lua.md).
[ "$lua" != 'Lua 5.3' ] || HELPER="$HELPER --exclude-tags=lua54"
# More lanes than processors would exceed the times that tests expect. The quick tests, two fifths of which wait for a terminal or for
# other processes, have one more.
case "$(nproc) $mode" in
    "1 "* | *tsan | *cuda) lanes=1 ;;
    *quick) lanes=3 ;;
    *) lanes=2 ;;
esac
LANES=${LANES-$lanes}
SEED=${SEED-1}
EXCLUDE=
folder=$(mktemp -d)
failures=$folder/failures times=$folder/times
started=0 shown=0 passed=0 failed=0 skipped=0
group='' group_passed=0 group_failed=0 group_time=0
min_tests=1 # a suite that ends without an error and with fewer tests has failed
trap 'rm -rf "$folder"' EXIT

# ---- suites ----

# Adds up the counts in a suite's log: cmocka's "[  PASSED  ] n test(s)", busted's "n successes / ..." and "n passed, m failed".
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

print_counts() { # name, passed, failed, hundredths of a processor second
    printf '%-52s %5d passed %4d failed %6d s\n' "$1" "$2" "$3" $(($4 / 100))
}

# Prints the sums of the group of suites that was shown last.
end_group() {
    if [ -n "$group" ]; then
        print_counts "$group" $group_passed $group_failed $group_time
        [ "$group_passed" -gt 0 ] || { failed=$((failed + 1)); echo "$group: no test ran" >>"$failures"; }
    fi
    group='' group_passed=0 group_failed=0 group_time=0
}

# Shows the suites that have ended, in the order in which they were started.
show_ended() {
    while [ -f "$folder/$((shown + 1)).status" ]; do
        shown=$((shown + 1))
        { read -r name; read -r its_group; read -r its_min; } <"$folder/$shown.name"
        read -r status took <"$folder/$shown.status"
        log=$folder/$shown.log
        # shellcheck disable=SC2046
        set -- $(count "$log")
        [ "$status" -ne 0 ] && [ "$2" -eq 0 ] && set -- "$1" 1 "$3"
        [ "$1" -lt "$its_min" ] && [ "$2" -eq 0 ] && set -- 0 1 0
        if [ "$2" -gt 0 ]; then
            tail -n 200 "$log"
            name_failures "$name" "$log" >>"$failures"
        fi
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
        [ "$its_group" = "$group" ] || { end_group; group=$its_group; }
        if [ -z "$group" ] || [ "$2" -gt 0 ]; then print_counts "$name" "$1" "$2" "$took"; fi
        group_passed=$((group_passed + $1)) group_failed=$((group_failed + $2)) group_time=$((group_time + took))
        rm "$log"
    done
}

# Runs a command as a suite, as soon as a lane is free: name, command...
# Adds the line "processor time, wall-clock time, name" to $times, in hundredths of a second.
suite() {
    read -r _ <&9
    show_ended
    started=$((started + 1))
    printf '%s\n' "$1" "${in_group-}" "$min_tests" >"$folder/$started.name"
    name=$1
    shift
    {
        begin=$(date +%s%N)
        "$@" >"$folder/$started.log" 2>&1 </dev/null 9>&-
        status=$?
        wall=$((($(date +%s%N) - begin) / 10000000))
        times >"$folder/$started.times" # its second line: user and system time of the command, "1m2.34s 0m0.5s"
        took=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", ($1 * 60 + $2 + $3 * 60 + $4) * 100 }' "$folder/$started.times")
        echo "$took $wall $name" >>"$times"
        echo "$status $took" >"$folder/$started.ended"
        mv "$folder/$started.ended" "$folder/$started.status"
        echo >&9
    } &
}

# The names of all specs, those first that took longest in $BUILD's last run: the lanes then end at about the same time.
all_specs() {
    find tests/lua -name '*_spec.lua' | sort | sed 's|^tests/lua/||; s|_spec.lua$||' |
        awk -v known="$LTENSOR_BUILD/durations" '
            BEGIN { while ((getline line <known) > 0) { split(line, part, " "); if (!(part[3] in took)) took[part[3]] = part[1] } }
            { print ($1 in took ? took[$1] : 5), $1 }' | sort -k1,1nr -k2 | cut -d ' ' -f 2
}

# Specs as a group of suites: the group's name, the names of specs ('' for all), environment...
specs() {
    in_group=$1 chosen=${2:-$(all_specs)}
    shift 2
    for spec in $chosen; do
        # shellcheck disable=SC2086
        suite "$spec: $in_group" env "$@" $BUSTED $HELPER -o plainTerminal $EXCLUDE "tests/lua/${spec}_spec.lua"
    done
    in_group=
}

# The names of the specs that name a GPU or their number: with two GPUs the others do the same again.
specs_of_devices() {
    # shellcheck disable=SC2046
    grep -lE 'cuda:[0-9%]|device_count|set_device|try_all_gpus|sim.gpus|SIM_GPUS' $(all_specs | sed 's|.*|tests/lua/&_spec.lua|') |
        sed 's|^tests/lua/||; s|_spec.lua$||'
}

notebooks() { # numbers of GPUs
    for n in "$@"; do
        in_group="notebooks on $n GPUs"
        for notebook in docs/notebooks/*.md docs/guide/*.md docs/zh/*.md docs/book/06-gpus.md docs/index.md; do
            case $notebook in *README.md | */start.md) continue ;; esac # tests/packages/tutorial.sh types the latter
            suite "${notebook#docs/}: $in_group" "$LTENSOR_BIN" --sim-gpus "$n" --cells --check "$notebook"
        done
    done
    in_group="the book"
    for notebook in docs/book/[0-9]*.md; do
        case $notebook in *06-gpus.md) continue ;; esac
        suite "$(basename "$notebook")" "$LTENSOR_BIN" --disable-cuda --cells --check "$notebook"
    done
    in_group=
}

# Whether the file $EXCLUDED has a line for a suite.
is_excluded() { [ -n "${EXCLUDED-}" ] && grep -q "^$1 " "$EXCLUDED"; }

c_tests() {
    in_group='C tests'
    for program in "$BUILD"/tests/*_test; do
        ! is_excluded "$(basename "$program")" || continue
        # ThreadSanitizer does not know the locks of OpenBLAS and of its OpenMP runtime.
        case $mode$program in
            tsan*/context_* | tsan*/fork_*) options="TSAN_OPTIONS=$TSAN_OPTIONS ignore_noninstrumented_modules=1" ;;
            *) options=TSAN_OPTIONS=${TSAN_OPTIONS-} ;;
        esac
        [ -x "$program" ] && suite "$(basename "$program")" env "$options" ${TEST_LIBRARIES:+"LD_LIBRARY_PATH=$TEST_LIBRARIES"} \
            ${TEST_BACKENDS:+"LTENSOR_LIB_DIR=$TEST_BACKENDS"} "$program"
    done
    in_group=
}

# Programs that build, install, and run other programs. They compile, so they are started first.
programs() {
    # They install and link the build for Lua 5.4.
    if [ -f Makefile ] && [ "$lua" = 'Lua 5.4' ]; then
        suite "packages, and examples built with them" sh tests/packages.sh
        suite "install, a moved prefix, uninstall" sh tests/install.sh
        suite "each LAPACK" sh tests/lapack.sh
        suite "oneDNN 2 and 3" sh tests/onednn.sh
        suite "rocks" sh tests/rock.sh
        suite "a library of chosen ops" sh tests/minimal.sh
        [ "$mode" = ci ] || suite "the library in one file" sh tests/single_file.sh
        suite "the C++ header" sh tests/cpp.sh
        suite "C and C++ in the documents" sh tests/documents.sh
        suite "exported and needed symbols" sh tests/libraries.sh
        suite "other hosts and other Luas" sh tests/hosts.sh
        suite "torch in programs with Lua" tests/hosts/run.sh cpp clingo lighttpd # make test-hosts has them all
        suite "the module for LuaJIT" sh tests/ffi.sh
        suite "the ABI of older versions" sh tests/abi.sh
    fi
    [ -x "$BUILD/tests/python_host" ] && suite "tensors shared with Python" "$BUILD/tests/python_host" tests/interop/exchange.py
    for kind in jupyter models dap; do
        if reason=$(sh tests/$kind/run.sh --can); then
            suite "$kind" sh tests/$kind/run.sh
        else
            skipped=$((skipped + 1))
            echo "$kind: skipped: $reason"
        fi
    done
}

# ---- modes ----

# Long sweeps run a tenth of their cases; SAMPLE_SEED=n repeats a run's choice.
sample_sweeps() {
    LTENSOR_TEST_SAMPLE=${LTENSOR_TEST_SAMPLE-10} LTENSOR_TEST_SAMPLE_SEED=${SAMPLE_SEED-$(date +%s)}
    export LTENSOR_TEST_SAMPLE LTENSOR_TEST_SAMPLE_SEED
    echo "long sweeps: $LTENSOR_TEST_SAMPLE % of the cases, SAMPLE_SEED=$LTENSOR_TEST_SAMPLE_SEED"
}

run_full() {
    # What CUDA leaves open is decided by a seed: SEED=n make test takes another.
    one="LTENSOR_SIM_GPUS=1 LTENSOR_TEST_DEVICE=cuda LTENSOR_SIM_SEED=$SEED"
    not_cpu="--exclude-tags=${EXCLUDE:+rss,speed,plain,}cpu"
    [ "$mode" = asan ] || programs
    c_tests
    min_tests=0 # a spec of GPUs has no test on the CPU, and all tests of a spec may have the tag cpu
    specs "specs on the CPU" '' LTENSOR_TEST_DEVICE=cpu
    EXCLUDE=$not_cpu
    LTENSOR_SIM_CHECK=1 export LTENSOR_SIM_CHECK
    # shellcheck disable=SC2086
    specs "specs on 1 simulated GPU, SEED=$SEED" '' $one
    # The host cannot reach the memory of these GPUs, where the processor has memory protection keys; else it would be too slow.
    specs "specs on 2 simulated GPUs" "$([ "$mode" != ci ] || specs_of_devices)" LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1 \
        LTENSOR_SIM_PROTECT="$(grep -qw ospke /proc/cpuinfo && echo 1 || echo 0)"
    if [ -f "$BUILD/checked/libltensor_sim.so" ]; then
        # shellcheck disable=SC2086
        specs "kernels with each access checked, SEED=$SEED" "indexing views optim draws cuda_vectors cuda_convolution attention" \
            $one LTENSOR_LIB_DIR="$PWD/$BUILD/checked"
    fi
    specs "compiled programs on 1 GPU without a compiler" "compile_reference compile_programs" CXX=none LTENSOR_SIM_GPUS=1 \
        LTENSOR_TEST_DEVICE=cuda
    specs "kernels with 64-bit indices" "indexing views strides elementwise attention" LTENSOR_SIM_GPUS=1 LTENSOR_TEST_DEVICE=cuda \
        LTENSOR_SIM_INDEX_LIMIT=1
    min_tests=1
    notebooks 0 1 2
}

run_tsan() {
    # Tests of threads set their number. Programs that contain a race on purpose have the tag race.
    OMP_NUM_THREADS=1 export OMP_NUM_THREADS
    TSAN_OPTIONS="halt_on_error=1 exitcode=66 die_after_fork=0" export TSAN_OPTIONS
    LTENSOR_TSAN=1 export LTENSOR_TSAN
    c_tests
    EXCLUDE=--exclude-tags=race
    specs "specs of 2 simulated GPUs" "cuda_order cuda_pinned cuda_memory cuda_copies" LTENSOR_SIM_GPUS=2
    # MPI's own threads and locks are not known to the sanitizer.
    EXCLUDE=
    specs "specs of ranks" distributed_race "TSAN_OPTIONS=$TSAN_OPTIONS ignore_noninstrumented_modules=1"
}

run_checks() {
    EXCLUDE=--exclude-tags=rss,speed,race,cpu min_tests=0
    LTENSOR_SIM_CHECK=1 LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1 LTENSOR_LIB_DIR="$PWD/$BUILD/checked"
    export LTENSOR_SIM_CHECK LTENSOR_SIM_GPUS LTENSOR_TEST_DEVICE LTENSOR_LIB_DIR
    seeds=${SEEDS-1 2 3 4 5 6 7 8 9 10}
    chosen=${SPECS:-$(all_specs)}
    for seed in $seeds; do
        for spec in $chosen; do
            # A spec that gave the GPUs no work with the first seed is the same with the others.
            used=$folder/used.$(echo "$spec" | tr / -)
            [ "$seed" = "${seeds%% *}" ] || [ -e "$used" ] || continue
            # shellcheck disable=SC2086
            suite "$spec, SEED=$seed" env LTENSOR_SIM_SEED="$seed" LTENSOR_SIM_USED="$used" $BUSTED $HELPER -o plainTerminal \
                $EXCLUDE "tests/lua/${spec}_spec.lua"
        done
        wait
    done
}

# One spec, its output as it comes.
run_spec() {
    case ${GPUS:-0} in
        0) LTENSOR_TEST_DEVICE=cpu ;;
        real*) LTENSOR_TEST_DEVICE=cuda${GPUS#real} EXCLUDE=--exclude-tags=cpu GPUS=0 ;;
        1) LTENSOR_TEST_DEVICE=cuda EXCLUDE=--exclude-tags=cpu ;;
        *) LTENSOR_TEST_DEVICE=cuda:1 EXCLUDE=--exclude-tags=cpu ;;
    esac
    export LTENSOR_TEST_DEVICE
    [ "${GPUS:-0}" = 0 ] || export LTENSOR_SIM_GPUS="$GPUS" LTENSOR_SIM_CHECK=1 LTENSOR_SIM_SEED="$SEED"
    # busted splits its arguments at blanks once more, so any character stands for each.
    filter=$(printf %s "${FILTER-}" | tr ' ' .)
    # shellcheck disable=SC2046,SC2086
    $BUSTED $HELPER -o plainTerminal $EXCLUDE ${filter:+"--filter=$filter"} $(printf 'tests/lua/%s_spec.lua ' ${SPEC-})
    exit
}

[ "$mode" != spec ] || run_spec
mkfifo "$folder/free"
exec 9<>"$folder/free"
for _ in $(seq "$LANES"); do echo >&9; done
use_gpu=docs/notebooks/use-gpu.md

# Tags. rss, speed: sanitizers need memory and time of their own. plain: programs and libraries that are not built with them. cpu: the
# same on each device. again: the work of other specs, once more in another way. native: programs or system calls that an
# emulator does not have.
case $mode in
    quick)
        sample_sweeps
        c_tests
        EXCLUDE=--exclude-tags=again min_tests=0
        specs "specs on the CPU" '' LTENSOR_TEST_DEVICE=cpu
        min_tests=1
        suite "use-gpu.md on 2 GPUs" "$LTENSOR_BIN" --sim-gpus 2 --cells --check $use_gpu
        ;;
    ci)
        sample_sweeps
        run_full
        ;;
    full) run_full ;;
    asan)
        LTENSOR_ASAN=1 export LTENSOR_ASAN
        EXCLUDE=--exclude-tags=rss,speed,plain
        run_full
        ;;
    tsan) run_tsan ;;
    checks) run_checks ;;
    cuda)
        "$LTENSOR_BIN" -e 'if not torch.cuda.is_available() or torch.cuda.is_simulated() then
            io.stderr:write "tests/run.sh: this machine has no real GPU\n" os.exit(1) end
            print(torch.cuda.get_device_name(0))' || exit 1
        c_tests
        EXCLUDE=--exclude-tags=cpu min_tests=0
        specs "specs on the GPU" '' LTENSOR_TEST_DEVICE=cuda
        ;;
    lua)
        sample_sweeps
        for program in "$BUILD"/tests/*_lua_test; do suite "$(basename "$program")" "$program"; done
        specs "specs under $lua" "lua53 scope lifetime errors arguments argument_tables onnx_export model_file compile autograd_function
            nn_modules data files hooks own formats printing repl/program repl/scopes repl/debug repl/dap repl/prompt repl/cells
            repl/echo repl/help repl/long_calls repl/conditions" LTENSOR_TEST_DEVICE=cpu
        ;;
    emulated)
        sample_sweeps
        [ -n "${SPECS-}" ] || c_tests
        EXCLUDE=--exclude-tags=again,rss,speed,native min_tests=0
        specs "specs on the CPU, emulated" "${SPECS:-$(all_specs | grep -vxF "$(sed 's/ .*//' "$EXCLUDED")")}" LTENSOR_TEST_DEVICE=cpu
        ;;
    static)
        sample_sweeps
        c_tests
        EXCLUDE=--exclude-tags=again,rss,speed
        specs "specs on the CPU" "arguments autograd_function containers convolution declared_arguments elementwise fft functional
            indexing nn_modules optim promotion random reductions repl/cells strides views" LTENSOR_TEST_DEVICE=cpu
        EXCLUDE=--exclude-tags=again,rss,speed,cpu
        specs "specs on 2 simulated GPUs" "elementwise indexing nn_modules reductions strides views" LTENSOR_SIM_GPUS=2 \
            LTENSOR_TEST_DEVICE=cuda:1
        ;;
    smoke)
        smoke="views reductions autograd nn_modules files onnx repl/program"
        specs "specs on the CPU" "$smoke arguments random linalg" LTENSOR_TEST_DEVICE=cpu
        EXCLUDE=--exclude-tags=cpu min_tests=0
        specs "specs on 2 simulated GPUs" "$smoke cuda cuda_memory data_parallel" LTENSOR_SIM_GPUS=2 LTENSOR_TEST_DEVICE=cuda:1
        suite "use-gpu.md on 2 GPUs" "$LTENSOR_BIN" --sim-gpus 2 --cells --check $use_gpu
        ;;
    *)
        echo "usage: tests/run.sh quick|ci|full|asan|tsan|checks|cuda|lua|emulated|static|smoke|spec" >&2
        exit 2
        ;;
esac

wait
show_ended
end_group
echo
sort -rn "$times" | sed 's/:.*//' >"$LTENSOR_BUILD/durations" 2>/dev/null
awk '{ sum += $1 } END { printf "The 20 slowest suites (processor and wall-clock seconds) of %d s:\n", sum / 100 }' "$times"
sort -rn "$times" | head -n 20 | sed 's/\([0-9]*\) \([0-9]*\) /\1\t\2\t/' |
    awk -F '\t' '{ printf "%8.1f %8.1f  %s\n", $1 / 100, $2 / 100, $3 }'
echo
[ -s "$failures" ] && { echo "Failures:"; cat "$failures"; echo; }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
