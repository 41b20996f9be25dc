#!/bin/sh
# Runs specs in node: tests/wasm/specs.sh BUILD [SPEC...]. Without names, those of tests/wasm/specs.txt, which pass; the
# others need processes, threads, LAPACK or other libraries. Ends with the counts.
set -eu
build=$1
shift
# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(grep -v '^#' tests/wasm/specs.txt)
LUA_PATH="$PWD/tests/?.lua;$PWD/tests/lua/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;;" export LUA_PATH
LTENSOR_BUILD=$PWD/${build%/wasm} LTENSOR_BIN=$PWD/${build%/wasm}/ltensor export LTENSOR_BUILD LTENSOR_BIN
LTENSOR_LISTS=$PWD/$build/lists export LTENSOR_LISTS
mkdir -p "$LTENSOR_LISTS"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
for spec; do
    timeout 300 node tests/wasm/program.js "$build" tests/wasm/busted.lua --helper=tests/lua/support/globals.lua --exclude-tags=again \
        "tests/lua/${spec}_spec.lua" >"$log" 2>&1 </dev/null || true
    counts=$(sed -n 's|^\([0-9]*\) successe\{0,1\}s\{0,1\} / \([0-9]*\) failures\{0,1\} / \([0-9]*\) errors\{0,1\} / .*|\1 \2 \3|p' "$log" | tail -n 1)
    # shellcheck disable=SC2086
    set -- "$spec" ${counts:-0 0 1}
    passed=$((passed + $2)) failed=$((failed + $3 + $4))
    [ $(($3 + $4)) -eq 0 ] || cat "$log"
    printf '%-32s %5d passed %4d failed\n' "$1" "$2" $(($3 + $4))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
