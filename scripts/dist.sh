#!/bin/sh
# make dist: packs dist/ltensor-<version>-x86_64-linux.tar.gz, which runs on any x86-64 Linux with
# glibc 2.36 without installing anything. Uses $BUILD (built before), $VERSION and $EPOCH (the time
# of every file in it).
#
#   bin/ltensor            finds its libraries relative to itself
#   lib/*.so*              every library it needs, except glibc; lib/ltensor/: the GPU backends, the engines of
#                          torch.distributed, the Jupyter kernel
#   share/lua/5.1/ltensor-ffi.lua   the module for LuaJIT, which opens lib/libltensor.so and lib/libltensor_lua.so
#   share/ltensor/lib      the Lua sources; share/doc: licences of all packed files
#   docs scripts include src/ops tests   with busted and its modules under tests/modules; build/: programs of the tests
#   run-tests              the suite, like tests/run.sh; run-bench-cuda: the table of make bench-cuda
#
# Fails if a file needs a newer glibc, or if the tarball is larger than 60 MB.
set -eu
BUILD=${BUILD-build}
name=ltensor-$VERSION-x86_64-linux
root=dist/$name
glibc_limit=2.36
size_limit=60000000

fail() {
    echo "dist: $1" >&2
    exit 1
}

[ "$(uname -m)" = x86_64 ] || fail "the tarball is for x86-64, and this is $(uname -m)"
rm -rf "$root" "$root.tar.gz"
mkdir -p "$root/bin" "$root/lib/ltensor" "$root/share/ltensor/lib" "$root/share/lua/5.1" "$root/share/doc/ltensor" \
    "$root/build/tests" "$root/build/gen" "$root/tests/modules" "$root/src"

# ---- the program, its backends, their libraries --------------------------------------------------
cp "$BUILD/dist/ltensor" "$root/bin/ltensor"
for backend in sim cuda cuda12 openmpi mpich jupyter; do
    library=$BUILD/libltensor_$backend.so
    [ ! -f "$library" ] || cp "$library" "$root/lib/ltensor/"
done

cp "$BUILD"/dist/libltensor*.so.* "$root/lib/"
cp "$BUILD/ltensor-ffi.lua" "$root/share/lua/5.1/"

# Paths of the shared libraries that files need, except the ones of glibc and ours.
needed() {
    ldd "$@" | sed -n 's/.* => \(\/.*\) (0x.*/\1/p' | sort -u |
        grep -Ev '/(libc|libm|libdl|libpthread|librt|libmvec|libutil|libresolv|ld-linux-x86-64|libltensor|libltensor_lua)\.so' || true
}

# Packs a library and records its Debian package for the copyright notice.
packages=liblua5.4-dev
pack_library() {
    path=$1
    cp -L "$path" "$2/$(basename "$path")"
    real=$(readlink -f "$path")
    owner=$(dpkg-query -S "$path" "$real" "${real#/usr}" 2>/dev/null | sed -n '1s/:.*//p' || true)
    packages="$packages $owner"
}
# Optional libraries that the program loads on first use, for convolutions and images.
opened=
for library in $(sed -n 's/.*LT_BUILD_ONEDNN "\(lib.*\)"/\1/p' "$BUILD/gen/build_config.h") libpng16.so.16 libturbojpeg.so.0; do
    path=$(gcc -print-file-name="$library")
    [ -f "$path" ] || fail "$library was not found"
    opened="$opened $path"
done
# shellcheck disable=SC2086
for library in $opened $(needed "$root/bin/ltensor" "$root"/lib/libltensor* "$root"/lib/ltensor/*.so $opened); do pack_library "$library" "$root/lib"; done

# ---- Lua, documents, scripts ----
cp -R lib/. "$root/share/ltensor/lib/"
for folder in ops nn optim distributions; do # the tests read declarations and examples there
    ln -s "../share/ltensor/lib/$folder" "$root/lib/$folder"
done
cp "$BUILD"/meta/*.lua "$root/share/ltensor/lib/meta/"
cp -R docs scripts "$root/"
mkdir -p "$root/docs/reference" && cp "$BUILD"/docs/*.md "$root/docs/reference/"
cp -R src/ops "$root/src/"
cp README.md LICENSE "$root/"
cp -R "$BUILD/shell" "$root/share/ltensor/" # the manual page, completion of the command line
cp -R include "$root/" # read by the tests of the C interface

# ---- tests ----
cp -R tests/. "$root/tests/"
cp "$BUILD"/tests/*_test "$BUILD/tests/pty" "$BUILD/dist/prompt_host" "$root/build/tests/"
rm "$root/build/tests/sim_check_test" # reads the symbols and lines of its own program
rm "$root/build/tests/no_threads_test" # has a library of its own, 9 MB
# Each program that tests the Lua binding contains the whole library, 1 MB compressed: two are enough here.
for program in "$root"/build/tests/*_lua_test; do
    case $program in */embedded_lua_test | */context_lua_test) ;; *) rm "$program" ;; esac
done
cp "$BUILD/gen/ltensor_ops.h" "$BUILD/gen/ltensor_ops.hpp" "$BUILD/gen/ltensor.json" "$root/build/gen/"
ln -s ../bin/ltensor "$root/build/ltensor" # where tests/run.sh looks
mkdir "$root/build/tests/lib"
cp "$BUILD/tests/lib/libltensor_open.so" "$root/build/tests/lib/"
for library in $(needed "$root"/build/tests/*_test); do
    case $library in */libltensor_open.so) continue ;; esac
    [ -f "$root/lib/$(basename "$library")" ] || pack_library "$library" "$root/build/tests/lib"
done

# Packs a Lua 5.4 module from the places where Debian installs it: NAME.lua, NAME/, NAME.so.
pack_module() {
    found=
    for folder in /usr/share/lua/5.4 /usr/lib/x86_64-linux-gnu/lua/5.4 /usr/local/share/lua/5.4 /usr/local/lib/lua/5.4; do
        for file in "$folder/$1.lua" "$folder/$1" "$folder/$1.so"; do
            [ -e "$file" ] || continue
            cp -RL "$file" "$root/tests/modules/"
            found=$file
        done
    done
    [ -n "$found" ] || fail "the Lua module $1, which busted needs, was not found"
    packages="$packages $(dpkg-query -S "$found" 2>/dev/null | sed -n '1s/:.*//p' || true)"
}
for module in busted cliargs luassert mediator pl say system term lfs dkjson; do pack_module $module; done
cat >"$root/tests/modules/run_busted.lua" <<'END'
-- run_busted.lua - what the command busted is, for the interpreter that runs this file.
require 'busted.runner' { standalone = false }
END

# The common start of both commands.
cat >"$root/tests/environment.sh" <<'END'
# environment.sh - sourced by run-tests and run-bench-cuda in the folder of the tarball: sets the
# paths.
root=$PWD
TEST_LIBRARIES=$root/lib:$root/build/tests/lib
TEST_BACKENDS=$root/lib/ltensor
LUA_PATH="$root/tests/modules/?.lua;$root/tests/modules/?/init.lua;;"
LUA_CPATH="$root/tests/modules/?.so;;"
BUSTED="$root/bin/ltensor $root/tests/modules/run_busted.lua"
export TEST_LIBRARIES TEST_BACKENDS LUA_PATH LUA_CPATH BUSTED
END
cat >"$root/run-tests" <<'END'
#!/bin/sh
# Runs the test suite of this folder: ./run-tests quick|full|cuda (quick). Nothing needs to be installed.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
. tests/environment.sh
exec sh tests/run.sh "${1-quick}"
END
cat >"$root/run-bench-cuda" <<'END'
#!/bin/sh
# Benchmarks the GPU of this machine into docs/results/, beside PyTorch if python3 has torch.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
. tests/environment.sh
exec sh tests/bench/run_cuda.sh
END
chmod 755 "$root/run-tests" "$root/run-bench-cuda"
git rev-parse HEAD >"$root/tests/commit" 2>/dev/null || echo unknown >"$root/tests/commit"

# ---- licences, checks, the tarball ----
for package in $packages; do
    notice=/usr/share/doc/$package/copyright
    [ ! -f "$notice" ] || cp -L "$notice" "$root/share/doc/$package.copyright"
done
find "$root/bin" "$root/lib" "$root/build/tests" "$root/tests/modules" -type f | while read -r file; do
    case $(head -c 4 "$file" | tr -d '\0') in
        *ELF*) chmod u+w "$file" && strip --strip-unneeded "$file" ;;
    esac
done
newest=$(find "$root" -type f \( -name '*.so*' -o -path '*/bin/*' -o -path '*/build/*' \) -exec objdump -T {} + 2>/dev/null |
    sed -n 's/.*[( ]GLIBC_\(2\.[0-9.]*\).*/\1/p' | sort -Vu | tail -n 1)
[ "$(printf '%s\n%s\n' "$newest" $glibc_limit | sort -V | tail -n 1)" = $glibc_limit ] ||
    fail "built here it needs glibc $newest; build where glibc is $glibc_limit or older"
tar -C dist --format=gnu --owner=0 --group=0 --numeric-owner --mode=u+rw,go=rX --mtime="@$EPOCH" --sort=name -cf - "$name" | gzip -6n >"$root.tar.gz"
size=$(wc -c <"$root.tar.gz")
[ "$size" -le $size_limit ] || fail "$root.tar.gz has $size bytes, more than $size_limit"
echo "$root.tar.gz: $((size / 1000000)) MB, needs glibc $newest"
