#!/bin/sh
# What the libraries of $BUILD (default build) show and need: libltensor nothing of Lua, all of them lt_* and luaopen_* only, each
# function in a version; no place in the static block of thread-local memory, of which a process has little; both opened by name in
# one process share one core; a program with libmvec keeps its own.
set -eu
BUILD=${BUILD-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

# none WHAT: fails with what stands on stdin, when something does.
none() {
    cat >"$folder/found"
    [ -s "$folder/found" ] || return 0
    echo "libraries.sh: $1:" >&2
    head -n 20 "$folder/found" >&2
    exit 1
}

for library in "$BUILD/libltensor.so" "$BUILD/libltensor.a"; do
    nm -P -u "$library" | grep -E '^lua' | none "$library needs Lua"
done
readelf -d "$BUILD/libltensor.so" | grep 'NEEDED.*lua' | none "libltensor.so links Lua"
passed=$((passed + 1))
for library in libltensor libltensor_lua; do
    nm -D -P --defined-only "$BUILD/$library.so" | grep -Ev '^(lt_\w+|luaopen_\w+|LTENSOR_\w+)@*(LTENSOR_\S+)? ' | grep -v '^LTENSOR_' |
        none "$library.so exports"
    nm -D -P --defined-only "$BUILD/$library.so" | grep -Ev '@LTENSOR_|^LTENSOR_' | none "$library.so exports without a version"
    readelf -d "$BUILD/$library.so" | grep -w STATIC_TLS | none "$library.so takes of the static block of thread-local memory"
    nm -D -P -u "$BUILD/$library.so" | grep '^_ZGV' | none "$library.so needs functions under names of libmvec"
    passed=$((passed + 1))
done
for library in libltensor libltensor_lua libltensor_repl; do
    nm -g -P --defined-only "$BUILD/$library.a" | grep -Ev '^(lt_|ltensor_|luaopen_)|\]:$' | none "$library.a shows"
    passed=$((passed + 1))
done

# The prompt without readline: make LIBEDIT=1.
if echo '#include <editline/readline.h>' | cc -D_GNU_SOURCE -E -include stdio.h -x c - >/dev/null 2>&1; then
    for file in repl/edit/*.c repl/modules.c; do
        # shellcheck disable=SC2046
        cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -DLT_LIBEDIT -DLT_OPS_BY_NAME -Iinclude -Isrc/core -I"$BUILD/gen" -Irepl -Isrc/lua \
            $(pkg-config --cflags lua5.4) -M -MG -MF "$folder/includes" "$file"
        grep '/readline/' "$folder/includes" | none "$file includes readline with LIBEDIT=1"
        # shellcheck disable=SC2046
        cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -DLT_LIBEDIT -DLT_OPS_BY_NAME -Iinclude -Isrc/core -I"$BUILD/gen" -Irepl -Isrc/lua \
            $(pkg-config --cflags lua5.4) -fsyntax-only "$file"
    done
    passed=$((passed + 1))
else
    echo "libraries.sh: LIBEDIT=1 was not tested; Debian: libedit-dev" >&2
fi

# Only the program needs readline.
for file in "$BUILD"/*.so; do
    readelf -d "$file" | grep -E 'NEEDED.*(readline|libedit)' | none "$file needs a library of the prompt"
done
passed=$((passed + 1))

cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror tests/libraries/both.c -o "$folder/both" -ldl
"$folder/both" "$BUILD/libltensor.so" "$BUILD/libltensor_lua.so"
"$folder/both" "$BUILD/libltensor_lua.so" "$BUILD/libltensor.so"
passed=$((passed + 2))

# An interpreter that has loaded libltensor already gets no second one with the module.
for first in libltensor.so libltensor_lua.so; do
    LUA_CPATH="$BUILD/?.so" lua5.4 -e "assert(package.loadlib('$BUILD/$first', '*'))
        local torch = require 'torch'
        assert(torch.arange(4):sum():item() == 6)
        local copies = {}
        for line in io.lines '/proc/self/maps' do
          local path = line:match '/%S*libltensor[%w_]*%.so%S*\$'
          if path then copies[path:match '[^/]+\$'] = true end
        end
        local n = 0
        for _ in pairs(copies) do n = n + 1 end
        assert(n == 2, n .. ' libraries are mapped')"
    passed=$((passed + 1))
done

# The plug-in of simulated GPUs is found beside the library, or where LTENSOR_LIB_DIR says, and needs nothing of the host.
cc -std=c11 -Wall -Wextra -Werror -Iinclude -I"$BUILD/gen" tests/libraries/simulated.c -o "$folder/shared" -L"$BUILD" -Wl,-rpath,"$PWD/$BUILD" -lltensor
cc -std=c11 -Wall -Wextra -Werror -Iinclude -I"$BUILD/gen" tests/libraries/simulated.c -o "$folder/static" "$BUILD/libltensor.a" -Wl,--gc-sections \
    -lsleef -lz -lcjson -lm -ldl -lpthread
LTENSOR_SIM_GPUS=1 "$folder/shared"
LTENSOR_SIM_GPUS=1 LTENSOR_LIB_DIR=$PWD/$BUILD "$folder/static"
passed=$((passed + 2))

# Where the driver is too old for the backend, the one for older drivers is taken, if it is there; if not, the first one's word stands.
backend() { # name, options...
    name=$1; shift
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -shared -fPIC "$@" -Isrc/core -Iinclude -I"$BUILD/gen" tests/libraries/driver.c -o "$folder/$name" -ldl
}
backend libltensor_cuda.so
if LTENSOR_LIB_DIR=$folder "$folder/shared" 2>"$folder/said"; then exit 1; fi
grep -q 'no CUDA GPUs are available: the driver is too old' "$folder/said"
backend libltensor_cuda12.so -DSIMULATED="\"$PWD/$BUILD/libltensor_sim.so\""
LTENSOR_LIB_DIR=$folder "$folder/shared"
passed=$((passed + 2))

cc -std=c11 -D_GNU_SOURCE -O3 -ffast-math -Iinclude -I"$BUILD/gen" tests/libraries/vector_math.c -o "$folder/vector_math" -L"$BUILD" \
    -Wl,-rpath,"$PWD/$BUILD" -lltensor -ldl -lm
"$folder/vector_math"
passed=$((passed + 1))
echo "$passed passed, 0 failed"
