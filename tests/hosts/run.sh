#!/bin/bash
# The examples of docs/guide/hosts.md: each host of docs/examples/hosts opens torch, computes with a network, trains it, reloads its
# configuration and forks where it can, and ends with the status 0.
#
#   tests/hosts/run.sh [HOST...]     the hosts named, or all; a host whose packages are missing is named and skipped
#   RUNS=20                          so many runs in a row
#   INSTALL=yes                      apt-get installs the missing packages first
#   MEASURE=file                     adds "host, seconds of require 'torch', KB of memory before and after" to a file
#
# Uses $BUILD (build), and for hosts with Lua 5.3 the module of $BUILD_53 (build-lua5.3). tests/hosts/examples/HOST.sh describes a host:
#   packages   Debian's packages            programs   commands that they install
#   lua        5.4, 5.3, ffi for LuaJIT, or empty for a host without Lua
#   needs      a function that prints the reason and fails if the host cannot run
#   try        a function that runs the example in the current folder, a copy of docs/examples/hosts/HOST and network.lua
set -u
cd "$(dirname "$0")/../.." || exit 2
ROOT=$PWD BUILD=$(realpath "${BUILD-build}") BUILD_53=$(realpath -m "${BUILD_53-build-lua5.3}")
PATH=$PATH:/usr/sbin:/sbin # servers
[ -z "${MEASURE-}" ] || MEASURE=$(realpath -m "$MEASURE")
export PATH ROOT BUILD
folder=$(mktemp -d /tmp/ltensor-hosts.XXXXXX)
chmod 755 "$folder" # hosts drop privileges
trap 'rm -rf "$folder"' EXIT
passed=0 failed=0 skipped=0

# ---- functions for the files of hosts ----
fail() {
    echo "$host: $1" >&2
    [ ! -s log ] || tail -n 30 log >&2
    exit 1
}
# expect TEXT COMMAND...: the command's output has the text.
expect() {
    local text=$1 output
    shift
    output=$("$@" 2>&1) || fail "'$*' ended with the status $?: $output"
    case $output in *"$text"*) ;; *) fail "'$text' is missing from the output of '$*': $output" ;; esac
}
# start COMMAND...: a server in a session of its own, so that it signals no other process. Its output is in the file log.
start() {
    setsid "$@" >>log 2>&1 </dev/null &
    server=$!
}
# until_true COMMAND...: repeats it for at most 20 seconds.
until_true() {
    for _ in $(seq 200); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    fail "'$*' failed for 20 seconds"
}
# stop SIGNAL: ends the server, which must return 0.
stop() {
    local status=0
    kill "-$1" "$server"
    wait "$server" || status=$?
    server=
    [ "$status" -eq 0 ] || fail "the server ended with the status $status"
}
get() { curl -sS --max-time 20 --fail "http://127.0.0.1:$port/$1"; }
answers() { get predict | grep -qF -e "$1"; }
# learns COMMAND...: it calls network.answer with its last argument.
learns() {
    expect 'loss 0.00' "$@" train
    expect 'loss 0.00' "$@" train
    expect 'value 0.2' "$@" predict
}
free_port() {
    python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); print(s.getsockname()[1])"
}

# ---- a run of a host ----
run_host() {
    (
        set -eu
        server=
        work=$folder/$host
        rm -rf "$work"
        mkdir "$work"
        cp docs/examples/hosts/network*.lua "$work"
        [ ! -d "docs/examples/hosts/$host" ] || cp -r "docs/examples/hosts/$host/." "$work"
        cd "$work"
        chmod -R a+rX .
        trap '[ -z "$server" ] || kill -KILL -- "-$server" 2>/dev/null' EXIT
        port=$(free_port)
        find . -type f -exec sed -i "s|/srv/ltensor|$work|g; s|8080|$port|g" {} +
        module=$BUILD
        [ "$lua" != 5.3 ] || module=$BUILD_53
        # This network.lua uses the library's threads before the host forks, and measures.
        export LUA_PATH="$ROOT/tests/hosts/measured/?.lua;$work/?.lua;$BUILD/?.lua;;" LUA_CPATH="$module/?.so;;" HOST_FOLDER=$work
        try
        if [ -n "${MEASURE-}" ] && [ -s measured ]; then sed "s/^/$host /" measured >>"$MEASURE"; fi
    )
}

root() { [ "$(id -u)" = 0 ] || { echo 'only root can start it'; return 1; }; }

missing() {
    local program
    for program in $programs; do
        command -v "$program" >/dev/null || echo "$program"
    done
}

skip() {
    skipped=$((skipped + 1))
    echo "$host: skipped: $1"
}

lua5.4 tests/hosts/guide.lua || failed=1
chosen=${*:-$(cd tests/hosts/examples && ls)}
for file in $chosen; do
    host=${file%.sh} packages='' programs='' lua='' needs=''
    if [ ! -f "tests/hosts/examples/$host.sh" ]; then
        echo "run.sh: there is no host '$host' in tests/hosts/examples" >&2
        exit 2
    fi
    # shellcheck source=/dev/null
    . "tests/hosts/examples/$host.sh"
    if [ -n "$(missing)" ] && [ "${INSTALL-}" = yes ]; then
        # shellcheck disable=SC2086
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends --no-remove -o DPkg::Lock::Timeout=300 $packages >"$folder/apt" 2>&1 ||
            cat "$folder/apt" >&2
    fi
    if [ -n "$(missing)" ]; then
        skip "no $(missing | tr '\n' ' '): apt-get install --no-install-recommends $packages (INSTALL=yes does it)"
        continue
    fi
    if [ "$lua" = 5.3 ] && [ ! -f "$BUILD_53/torch.so" ]; then
        skip "no module for Lua 5.3: make LUA_NAME=lua5.3 CUDA=no build-lua5.3/torch.so"
        continue
    fi
    if [ "$lua" = ffi ] && [ ! -f "$BUILD/ltensor-ffi.lua" ]; then
        skip "no $BUILD/ltensor-ffi.lua: make"
        continue
    fi
    if [ -n "$needs" ] && ! reason=$($needs); then
        skip "$reason"
        continue
    fi
    begin=$(date +%s%N) status=0
    for run in $(seq "${RUNS:-1}"); do
        run_host # not in a condition, which would disable set -e in it
        status=$?
        if [ "$status" -ne 0 ]; then
            echo "$host: run $run failed" >&2
            break
        fi
    done
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
        echo "$host: ok, ${RUNS:-1} runs, $((($(date +%s%N) - begin) / 1000000)) ms"
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
