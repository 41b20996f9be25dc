#!/bin/sh
# Runs specs in node: tests/wasm/specs.sh BUILD [LIST], where LIST (default tests/wasm/specs.txt) has a line per spec: its
# name, and the number of its tests that fail because WebAssembly has no LAPACK, no processes, no threads. Another number
# counts as failures. Ends with the counts.
set -eu
build=$1 list=${2-tests/wasm/specs.txt}
LUA_PATH="$PWD/tests/?.lua;$PWD/tests/lua/?.lua;/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;;" export LUA_PATH
LTENSOR_BUILD=$PWD/${build%/wasm} LTENSOR_BIN=$PWD/${build%/wasm}/ltensor export LTENSOR_BUILD LTENSOR_BIN
LTENSOR_LISTS=$PWD/$build/lists export LTENSOR_LISTS
mkdir -p "$LTENSOR_LISTS"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0
while read -r spec known; do
    timeout 900 node tests/wasm/program.js "$build" tests/wasm/busted.lua --helper=tests/lua/support/globals.lua --exclude-tags=again \
        "tests/lua/${spec}_spec.lua" >"$log" 2>&1 </dev/null || true
    counts=$(sed -n 's|^\([0-9]*\) success[es]* / \([0-9]*\) failures* / \([0-9]*\) errors* / .*|\1 \2 \3|p' "$log" | tail -n 1)
    read -r successes failures errors <<END
${counts:-0 $known 1}
END
    unexpected=$((failures + errors - known))
    [ $unexpected -eq 0 ] || cat "$log"
    passed=$((passed + successes)) failed=$((failed + ${unexpected#-}))
    printf '%-32s %5d passed %4d failed as expected %4d failed\n' "$spec" "$successes" "$known" "${unexpected#-}"
done <"$list"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -ge 3000 ]
