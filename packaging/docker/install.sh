#!/bin/sh
# What the image has besides a bare Debian: the packages of a folder, what they recommend, and a user: packaging/docker/install.sh FOLDER
set -eu
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq install -y "$1"/libltensor0_*.deb "$1"/ltensor_*.deb
apt-get -qq clean
rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
useradd --create-home ltensor
install -d -o ltensor /work
