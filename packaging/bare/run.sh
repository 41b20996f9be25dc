#!/bin/sh
# Runs a command in a Debian folder, isolated like a machine: packaging/bare/run.sh FOLDER
# COMMAND... Its mounts and processes end with it; the environment is that of a first login.
set -eu
folder=$1
shift
# shellcheck disable=SC2016
exec unshare --mount --pid --fork --kill-child sh -c '
    folder=$1
    shift
    mount -t proc proc "$folder/proc"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$folder/dev/pts"
    mkdir -p "$folder/dev/shm"
    mount -t tmpfs tmpfs "$folder/dev/shm"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$folder" "$@"
' sh "$folder" "$@"
