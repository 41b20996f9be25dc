#!/bin/sh
# Runs the fuzzers side by side, each for $MINUTES (default 1) from $SEED (default: the time), and shows what each finds as it comes.
# $FUZZERS names some of them; $BUILD is the build to run (default build; build-asan finds more). Exit status: 1 when anything was found.
set -u
BUILD=${BUILD:-build} MINUTES=${MINUTES:-1} SEED=${SEED:-$(date +%s)} FUZZERS=${FUZZERS:-calls files keys expressions compiled generated}
program=$PWD/$BUILD/ltensor
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
echo "make fuzz BUILD=$BUILD MINUTES=$MINUTES SEED=$SEED FUZZERS=\"$FUZZERS\""

one() {
    case $1 in
        calls | files) lua5.4 "$PWD/tests/fuzz/run.lua" "$1" "$program" "$PWD/$BUILD/tests/fuzz_watch" "$MINUTES" "$SEED" ;;
        # A sanitizer's report must not look like a program that ended by itself, as status 1 does.
        keys) ASAN_OPTIONS=detect_leaks=0:exitcode=99 UBSAN_OPTIONS=halt_on_error=1:exitcode=99 "$PWD/$BUILD/tests/fuzz_keys" -m "$MINUTES" -s "$SEED" "$program" ;;
        expressions) sh tests/fuzz/expressions.sh "$BUILD" "$MINUTES" "$SEED" ;;
        compiled) OMP_WAIT_POLICY=passive "$program" --disable-cuda tests/fuzz/compiled.lua "$MINUTES" "$SEED" ;;
        generated) OMP_WAIT_POLICY=passive XDG_CACHE_HOME=$PWD/$BUILD/cache "$program" --sim-gpus 1 --no-copies tests/fuzz/compiled.lua "$MINUTES" "$SEED" cuda ;;
        *) echo "no fuzzer is called $1: calls files keys expressions compiled generated"; return 2 ;;
    esac
}

for fuzzer in $FUZZERS; do
    { one "$fuzzer"; echo $? >"$logs/$fuzzer.status"; } 2>&1 | sed -u "s/^/[$fuzzer] /" &
done
wait
worst=0
for fuzzer in $FUZZERS; do
    [ "$(cat "$logs/$fuzzer.status")" -eq 0 ] || worst=1
done
exit $worst
