#!/bin/sh
# Tests of the static program: make test-static. Usage: tests/static/run.sh BUILD
#
# The program runs the GPU chapter in a folder with nothing else, as its root, with 0, 1 and 2 simulated GPUs, and reads
# cells from a pipe. Then the C tests, which are static, and specs run. tests/static/excluded has the suites that need
# more than a static program has, with the reasons.
set -eu
build=$PWD/$1
program=$build/ltensor
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
fail() { echo "tests/static/run.sh: $1" >&2; exit 1; }

! readelf -ld "$program" | grep -qE 'INTERP|NEEDED' || fail "$program is not static"
cp "$program" docs/notebooks/use-gpu.md "$root"
change=$(PATH=$PATH:/usr/sbin command -v chroot)
[ "$(id -u)" -eq 0 ] || change="unshare -r $change"
# shellcheck disable=SC2086
in_root() { (cd "$root" && env -i $change "$root" /ltensor "$@"); }
for gpus in 0 1 2; do
    in_root --sim-gpus $gpus --cells --check /use-gpu.md || fail "the chapter has other outputs with $gpus GPUs"
done
text=$(printf 'function double(x)\n  return 2 * x\nend\ndouble(torch.arange(3))\n' | in_root -i)
case $text in *'[0, 2, 4]'*) ;; *) fail "the prompt printed $text" ;; esac
[ "$(ls -A "$root")" = "$(printf 'ltensor\nuse-gpu.md')" ] || fail 'the program wrote files'

BUSTED="$program $PWD/tests/wasm/busted.lua" LTENSOR_LISTS=$root EXCLUDED=tests/static/excluded export BUSTED LTENSOR_LISTS EXCLUDED
LUA_PATH="/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;;" export LUA_PATH
BUILD=$1 sh tests/run.sh static
