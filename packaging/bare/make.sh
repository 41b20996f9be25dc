#!/bin/sh
# Creates a bare Debian in a folder: packaging/bare/make.sh FOLDER [SUITE]. Requires root and a
# network (debootstrap). BARE names an existing bare Debian to copy instead.
set -eu
folder=$1 suite=${2-bookworm}
fail() {
    echo "bare: $1" >&2
    exit 1
}
[ "$(id -u)" -eq 0 ] || fail 'only root can make and enter a folder that is a Debian'
mkdir -p "$folder"
if [ -n "${BARE-}" ]; then
    cp -a "$BARE/." "$folder/"
else
    command -v debootstrap >/dev/null 2>&1 || fail 'debootstrap is not installed (Debian: debootstrap)'
    debootstrap --variant=minbase "$suite" "$folder" "${MIRROR-http://deb.debian.org/debian}" >"$folder.log" 2>&1 ||
        { tail -n 20 "$folder.log" >&2; fail "debootstrap failed; all it said is in $folder.log"; }
    rm "$folder.log"
fi
cp /etc/resolv.conf "$folder/etc/resolv.conf"
