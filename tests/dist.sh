#!/bin/sh
# The tarball of make dist where nothing is installed: tests/dist.sh TARBALL
#
# As root, or where users may have namespaces, in a root folder that holds glibc and the tarball, nothing else;
# everywhere with an empty environment, looking at what the process has mapped: of the system's libraries only
# glibc's. Then the quick suite with the packed busted.
set -eu
tarball=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar -C "$folder" -xzf "$tarball"
root=$(echo "$folder"/ltensor-*)

cat >"$root/probe.lua" <<'END'
-- Uses what each packed library is for, then lists the libraries that are mapped.
local cpu = torch.rand(300, 300)
local gpu = torch.rand(300, 300, {device = 'cuda'})
assert(cpu:mm(cpu):exp():sum():item() > 0 and (gpu:mm(gpu)):sum():item() > 0)
local path = os.tmpname()
torch.save({cpu = cpu}, path)
assert(torch.equal(torch.load(path).cpu, cpu))
os.remove(path)
local maps, seen = io.open '/proc/self/maps', {}
if not maps then return print 'mapped: unknown' end
for line in maps:lines() do
  local library = line:match '(/%S+%.so[%d.]*)$'
  if library and not seen[library] then
    seen[library] = true
    print(library)
  end
end
END

# 1. An empty environment; what is mapped.
all_packed() { # the paths of mapped libraries
    strangers=$(printf '%s\n' "$1" | grep -v "^$root/" |
        grep -Ev '/(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|libgcc_s|libluajit-5.1)\.so|/libc-|/gconv/' || true)
    [ -z "$strangers" ] || { printf 'dist: libraries that are not in the tarball:\n%s\n' "$strangers" >&2; exit 1; }
}
mapped=$(cd / && env -i "$root/bin/ltensor" --sim-gpus 1 --no-copies "$root/probe.lua")
all_packed "$mapped"
passed=1
if command -v luajit >/dev/null; then
    # A model of a file opens libltensor_lua. A GPU backend finds its libraries only by the program.
    sed "s/device = 'cuda'//" "$root/probe.lua" >"$root/probe_cpu.lua"
    mapped=$(cd / && env -i LUA_PATH="$root/share/lua/5.1/?.lua" "$(command -v luajit)" -e \
        "torch = require 'ltensor-ffi' assert(not pcall(torch.onnx.load, '/none.onnx')) dofile '$root/probe_cpu.lua'")
    printf '%s\n' "$mapped" | grep -q "^$root/lib/libltensor_lua.so" || { echo "dist: luajit did not open the packed libraries" >&2; exit 1; }
    all_packed "$mapped"
    passed=$((passed + 1))
fi

# 2. A root folder without anything else.
jail=$folder/jail
mkdir -p "$jail/tmp" "$jail/lib64" "$jail/lib/x86_64-linux-gnu" "$jail/ltensor"
cp -L /lib64/ld-linux-x86-64.so.2 "$jail/lib64/"
for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
    for place in /lib/x86_64-linux-gnu /lib64 /usr/lib64 /usr/lib; do
        [ ! -e "$place/$library" ] || { cp -L "$place/$library" "$jail/lib/x86_64-linux-gnu/"; break; }
    done
done
cp -R "$root/bin" "$root/lib" "$root/scripts" "$root/probe.lua" "$jail/ltensor/"
PATH=$PATH:/usr/sbin:/sbin
enter=$(command -v chroot)
[ "$(id -u)" -eq 0 ] || enter="$(command -v unshare) -r $enter"
if $enter "$jail" /lib64/ld-linux-x86-64.so.2 --version >/dev/null 2>&1; then
    # LD_ORIGIN_PATH stands for what the loader reads from /proc, which the folder lacks.
    # shellcheck disable=SC2086
    env -i LD_ORIGIN_PATH=/ltensor/bin $enter "$jail" /ltensor/bin/ltensor --sim-gpus 2 --no-copies /ltensor/probe.lua >/dev/null
    # shellcheck disable=SC2086
    env -i LD_ORIGIN_PATH=/ltensor/bin $enter "$jail" /ltensor/bin/ltensor --sim-gpus 2 --no-copies /ltensor/scripts/two_gpus.lua \
        --size 16 --steps 2 --repeats 1 >/dev/null
    passed=$((passed + 1))
else
    echo "dist: no right to chroot here; only what is mapped was looked at" >&2
fi
echo "$passed passed, 0 failed"

# 3. The suite from the tarball, without this machine's Lua modules.
env -i PATH=/usr/bin:/bin HOME="$folder" "$root/run-tests" "${2-quick}"
