#!/bin/sh
# Installs the packages of a folder with their recommendations into a bare Debian, and adds a user:
# packaging/docker/install.sh FOLDER
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y "$1"/libltensor0_*.deb "$1"/ltensor_*.deb
apt-get -qq clean
rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
useradd --create-home ltensor
install -d -o ltensor /work
