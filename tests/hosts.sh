#!/bin/sh
# The libraries of $BUILD (default build) in other programs: hosts that open and close Lua states or the library itself, plain interpreters
# that end after parallel work, and hosts with another Lua, which must be refused with a message.
set -eu
BUILD=${BUILD-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

ok() { passed=$((passed + 1)); }
fail() {
    echo "hosts.sh: $1" >&2
    [ ! -f "$folder/output" ] || head -n 20 "$folder/output" >&2
    exit 1
}
# run STATUS COMMAND...: runs it with its output in the file output.
run() {
    expected=$1
    shift
    status=0
    timeout 300 "$@" >"$folder/output" 2>&1 </dev/null || status=$?
    [ "$status" -eq "$expected" ] || fail "'$*' ended with the status $status, expected $expected"
}
has() { grep -q -- "$1" "$folder/output" || fail "'$1' is missing from the output"; }
build() { # SOURCE PROGRAM OPTIONS...
    source=$1 program=$2
    shift 2
    # shellcheck disable=SC2046
    cc -std=gnu11 -O1 -Wall -Wextra -Iinclude -I"$BUILD/gen" $(pkg-config --cflags lua5.4) "tests/hosts/$source.c" -o "$folder/$program" "$@"
}
lua_archive=$(pkg-config --variable=libdir lua5.4)/liblua5.4.a

# ---- states and libraries that are closed ---------------------------------------------------------------------
build reopen reopen -llua5.4
run 0 "$folder/reopen" "$PWD/$BUILD"
ok
build unload unload -ldl
run 0 "$folder/unload" "$PWD/$BUILD/libltensor.so"
ok
build kept_memory kept_memory -L"$BUILD" -Wl,-rpath,"$PWD/$BUILD" -lltensor
run 0 "$folder/kept_memory"
ok
for _ in $(seq 40); do
    run 0 env LUA_CPATH="$BUILD/?.so" lua5.4 -e "local torch = require 'torch' torch.set_num_threads(2)
        local a = torch.rand(300, 300) assert(#a:mm(a) == 300) assert(torch.rand(1000000):exp():mean():item() > 1)"
done
ok

# ---- hosts with a Lua of their own ---------------------------------------------------------------------------------
build static_lua dynamic -llua5.4
build static_lua exported "$lua_archive" -Wl,-E -lm -ldl
build static_lua hidden "$lua_archive" -lm -ldl
run 0 "$folder/dynamic" "$PWD/$BUILD"
cp "$folder/output" "$folder/functions"
grep -Eq '^[1-9][0-9]+ functions, 6' "$folder/functions" || fail 'a host with liblua5.4.so cannot open torch'
run 0 "$folder/exported" "$PWD/$BUILD"
cmp -s "$folder/output" "$folder/functions" || fail 'a host that exports its static Lua 5.4 got another torch'
ok
# This Lua exports no function that could raise an error: the message is on stderr, and require returns true.
run 0 "$folder/hidden" "$PWD/$BUILD"
has "cannot open torch: it was called by the Lua in '.*hidden'"
has '^true$'
ok

for interpreter in lua5.1 lua5.3 luajit; do
    if ! command -v "$interpreter" >/dev/null; then
        echo "hosts.sh: $interpreter is not installed: not tested"
        continue
    fi
    run 0 env LUA_CPATH="$BUILD/?.so" "$interpreter" -e "local ok, message = pcall(require, 'torch')
        assert(not ok and message:find 'cannot open torch' or message:find 'version mismatch', message)
        assert(not pcall(require, 'torch'))
        assert(#string.rep('x', 1000) == 1000 and select('#', collectgarbage()) == 1)"
    run 1 env LUA_CPATH="$BUILD/?.so" "$interpreter" -l torch
    has 'cannot open torch'
    ok
done

python=${LTENSOR_PYTHON-python3}
if command -v "$python" >/dev/null; then
    run 0 "$python" tests/hosts/described.py "$BUILD/gen/ltensor.json" "$PWD/$BUILD/libltensor.so"
    has '^[6-9][0-9][0-9] operations, 1[0-9][0-9] functions'
    ok
fi
if "$python" -c 'import lupa' 2>/dev/null; then
    run 0 env LUA_CPATH="$PWD/$BUILD/?.so" "$python" tests/hosts/lupa_luas.py
    ok
else
    echo "hosts.sh: $python has no lupa (LTENSOR_PYTHON names another): not tested"
fi
echo "$passed passed, 0 failed"
