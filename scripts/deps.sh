#!/bin/sh
# Installs the packages that ltensor needs: `scripts/deps.sh` for building, `scripts/deps.sh test`
# also for the test suite, `scripts/deps.sh ci` also for make lint, make site and make deb;
# `scripts/deps.sh deb` for make deb only; `scripts/deps.sh arm64` for make test-arm64; `scripts/deps.sh wasm` for make wasm
# and make test-wasm; `scripts/deps.sh port` for make test-static, make test-windows and make check-macos.
#
# On Debian and Ubuntu, missing packages are installed with apt-get, through sudo if the user is not
# root. On other systems, or without permission, the script prints the required packages. If nothing
# is missing, it takes a few milliseconds, without output and network. Reads nothing from stdin.
#
# CC=clang            the packages for building with clang.
# LUA_NAME=lua5.3     the packages of this Lua, unless pkg-config finds it.
# LTENSOR_DEPS=check  only prints missing packages (exit 1 if there are some).

set -eu

build_packages='build-essential pkg-config lua5.4 liblua5.4-dev libreadline-dev
libopenblas-openmp-dev libdnnl-dev libsleef-dev libboost-context-dev zlib1g-dev libcjson-dev
libpng-dev libturbojpeg0-dev libzmq3-dev nettle-dev'
# shellcheck disable=SC1091
if [ "$(. /etc/os-release 2>/dev/null && echo "${UBUNTU_CODENAME-}")" = jammy ]; then # gcc is version 11 there; the Makefile takes 12 instead
    build_packages="$build_packages gcc-12 g++-12"
fi
case ${CC-} in
    *clang*) build_packages="$build_packages clang" ;;
esac
case ${LUA_NAME-lua} in
    lua | lua5.4) ;;
    *) pkg-config --exists "$LUA_NAME" || build_packages="$build_packages $LUA_NAME lib$LUA_NAME-dev" ;;
esac
test_packages='lua-busted libcmocka-dev dataset-fashion-mnist python3-dev python3-numpy
abigail-tools clang cmake libsuitesparse-dev luarocks libopenmpi-dev openmpi-bin libmpich-dev mpich
lua5.1 lua5.3 liblua5.3-dev luajit libpcre2-8-0 libutf8proc-dev'

# Libraries for arm64, beside those of this machine. libdnnl-dev is not one of them: it cannot be installed for both, its
# header for this machine serves, and the library is opened by its name.
arm64_packages() {
    printf 'gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static lua-busted '
    for package in $build_packages libcmocka-dev libdnnl2 libcxsparse3 libpcre2-8-0 libutf8proc2 lua-filesystem lua-system; do
        case $package in
            libdnnl-dev) ;;
            lib* | *g-dev | nettle-dev | lua-*) printf '%s:arm64 ' "$package" ;;
        esac
    done
}

lapack_packages='libblas3 liblapack3 libblis4-openmp libflame1 libedit-dev'
wasm_packages='emscripten nodejs chromium chromium-driver lua-busted'
port_packages='python3-pip lua-busted gcc-mingw-w64-x86-64-posix wine wine64'
zig=ziglang==0.17.1 # a C compiler with C libraries for other systems, of PyPI
deb_packages='debhelper dpkg-dev libopenmpi-dev libmpich-dev'

case "${1-}" in
    deb) wanted="$build_packages $deb_packages" ;;
    '') wanted=$build_packages ;;
    test) wanted="$build_packages $test_packages" ;;
    ci) wanted="$build_packages $test_packages $deb_packages $lapack_packages lintian lua-check clang-format-14 mandoc mkdocs-material shellcheck
lighttpd lighttpd-modules-lua gringo curl" ;;
    arm64) wanted="$build_packages $(arm64_packages)" ;;
    wasm) wanted="$build_packages $wasm_packages" ;;
    port) wanted="$build_packages $port_packages" ;;
    *)
        echo "usage: scripts/deps.sh [test|ci|deb|arm64|wasm|port]" >&2
        exit 2
        ;;
esac

explain_elsewhere() {
    cat >&2 <<'END'
ltensor: this is not Debian or Ubuntu, so nothing was installed. To build ltensor you need:
(docs/guide/install.md has the commands for Fedora and Arch)
  a C11 and C++17 compiler (gcc >= 12, or clang >= 14 with libomp), GNU make, pkg-config
  Lua 5.4 with its headers        readline with its headers
  OpenBLAS, built with OpenMP     SLEEF
  oneDNN, version 2 or 3          zlib
  Boost.Context                   cJSON
  libpng 1.6                      TurboJPEG (of libjpeg-turbo)
  ZeroMQ and Nettle (without them there is no kernel for Jupyter)
To run its tests, also:
  busted (on Lua 5.4)             cmocka
  Python with its headers and NumPy (without them that exchange is not tested)
  abidiff (of libabigail), clang, CMake and LuaRocks
  lua5.1, lua5.3 and luajit (without them neither the module for LuaJIT nor their refusal is tested)
  Open MPI and MPICH with their headers (without them what runs on several ranks is not tested)
  CXSparse, of SuiteSparse (without it sparse systems of equations are not tested)
  Fashion-MNIST as four gzipped idx files (the script scripts/softmax_regression.lua names them)
END
}

if ! command -v dpkg-query >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1; then
    # Only the tools that can be looked up by name; the libraries are reported by make itself.
    for tool in cc make pkg-config lua5.4; do
        command -v "$tool" >/dev/null 2>&1 && continue
        [ "$tool" = lua5.4 ] && lua -v 2>/dev/null | grep -q '^Lua 5\.4' && continue
        explain_elsewhere
        exit 1
    done
    exit 0
fi

# One dpkg-query for all packages. Unknown packages and removed packages with configuration files
# ("deinstall ok config-files") are missing.
# shellcheck disable=SC2086
installed=$(dpkg-query -W -f '${Package}:${Architecture} ${Status}\n' $wanted 2>/dev/null |
    sed -n 's/^\([^ ]*\) .* ok installed$/\1/p' | sed "s/:all$//; s/:$(dpkg --print-architecture)$//" || true)
missing=
for package in $wanted; do
    case "
$installed
" in
        *"
$package
"*) ;;
        *) missing="$missing $package" ;;
    esac
done
# The sources of libraries (mk/library_sources.mk) and the compiler of zig (mk/static.mk), which Debian does not have.
fetch_sources() {
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/ltensor
    case $1 in wasm | port) sh "${0%/*}/library_sources.sh" "$cache/libraries" ;; esac
    [ "$1" != port ] || [ -x "$cache/zig/ziglang/zig" ] ||
        /usr/bin/python3 -m pip install -q --no-compile --target "$cache/zig" "$zig"
}
if [ -z "$missing" ]; then
    fetch_sources "${1-}"
    exit 0
fi

if [ "${LTENSOR_DEPS-}" = check ]; then
    echo "ltensor: missing packages:$missing" >&2
    exit 1
fi

if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "ltensor: missing packages:$missing" >&2
    echo "ltensor: not root and no sudo here; as root run: apt-get install -y$missing" >&2
    exit 1
fi

echo "ltensor: these packages are missing, and apt-get installs them now:$missing" >&2
echo "ltensor: to be told instead, set LTENSOR_DEPS=check" >&2
apt() {
    # A lock held by another apt (a fresh machine updates itself) is waited for.
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 \
        -o Dpkg::Use-Pty=0 "$@" </dev/null
}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
case ${1-} in arm64) $as_root dpkg --add-architecture arm64 ;; esac
# shellcheck disable=SC2086
if ! { apt update && apt install -y --no-install-recommends $missing; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "ltensor: could not install$missing" >&2
    exit 1
fi
fetch_sources "${1-}"
