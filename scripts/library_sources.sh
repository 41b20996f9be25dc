#!/bin/sh
# Fetches the sources of Lua, zlib, cJSON and cmocka for builds for which Debian has no packages of them
# (WebAssembly, musl, Windows): scripts/library_sources.sh FOLDER. Needs apt-get. Does nothing if the folder is complete.
set -eu
folder=$1
[ ! -f "$folder/complete" ] || exit 0
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p "$work/lists/partial" "$work/sources"
echo "deb-src http://deb.debian.org/debian $codename main" >"$work/list"
# Lists of their own: the system's need no entries for sources.
apt() {
    apt-get -qq -o Dir::Etc::SourceList="$work/list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= "$@"
}
cd "$work/sources"
apt update
for package in lua5.4 zlib cjson cmocka; do
    apt source --download-only $package
    rm -f ./*.asc
    rm -rf "${folder:?}/$package"
    mkdir "$folder/$package"
    tar -xf "$package"_*.orig.tar.* --strip-components=1 -C "$folder/$package"
done
touch "$folder/complete"
