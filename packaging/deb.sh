#!/bin/sh
# make deb: builds the Debian packages and their source package in dist/. Uses $BUILD, $VERSION.
# CUDA=yes (requires nvcc) also builds ltensor-cuda, for CUDA_ARCHS. REUSE=1 is fast, for tests: it uses
# the objects of $BUILD, with the assertions of $ASSERT, compresses little, and leaves the sources and headers
# out of lintian's check; without it they are compiled with Debian's flags, as for released packages.
# CROSS=aarch64-linux-gnu- builds for that machine with the libraries of scripts/deps.sh arm64.
# lintian, if installed, checks the packages.
#
# They are built in a copy of the sources with packaging/debian as debian/. Needs dpkg-dev and
# debhelper (scripts/deps.sh ci).
set -eu
folder=$PWD/$BUILD/deb
source=$folder/ltensor-$VERSION

changelog=$(sed -n '1s/^[^(]*(\([^)]*\)).*/\1/p' packaging/debian/changelog)
[ "$changelog" = "$VERSION" ] || { echo "deb: packaging/debian/changelog is of $changelog, include/ltensor.h of $VERSION" >&2; exit 1; }
# The timestamp of the packaged files, for reproducible packages.
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l packaging/debian/changelog -S Timestamp) export SOURCE_DATE_EPOCH

rm -rf "$folder"
sh packaging/source.sh "$source"
cp -a packaging/debian "$source/debian"
profiles=
[ "${CUDA-no}" = no ] || profiles=pkg.ltensor.cuda
export CUDA_ARCHS
# Debian's libdnnl-dev cannot be installed for two machines, so dependencies of the build are not checked.
[ -z "${CROSS-}" ] || set -- --host-type "${CROSS%-}" --no-check-builddeps
if [ -n "${REUSE-}" ]; then
    export ASSERT LTENSOR_OBJECTS="$PWD/$BUILD" DPKG_DEB_COMPRESSOR_LEVEL=1
    set -- "$@" --source-option=-z1
else
    unset ASSERT
fi
# Build settings of the calling shell do not apply to packages.
(
    cd "$source"
    unset BUILD CUDA CROSS WERROR MAKEFLAGS MAKELEVEL MFLAGS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
    DEB_BUILD_PROFILES=$profiles DEB_BUILD_OPTIONS="parallel=$(nproc)${DEB_BUILD_OPTIONS+ $DEB_BUILD_OPTIONS}" \
        dpkg-buildpackage --unsigned-source --unsigned-changes "$@"
) >"$folder/log" 2>&1 || { tail -n 60 "$folder/log" >&2; echo "deb: its output is in $folder/log" >&2; exit 1; }

mkdir -p dist
rm -f dist/ltensor-cuda*_"$VERSION"_*.deb # of a build with nvcc, before one without
cp "$folder"/*_"$VERSION"* dist/
if command -v lintian >/dev/null 2>&1; then
    checked=$(ls "$folder"/ltensor_"$VERSION"_*.changes)
    [ -z "${REUSE-}" ] || checked=$(ls "$folder"/ltensor_"$VERSION"_*.deb "$folder"/libltensor0_"$VERSION"_*.deb)
    # shellcheck disable=SC2086
    lintian --fail-on error,warning --allow-root $checked
else
    echo "deb: lintian is not installed: the packages were not checked"
fi
(cd "$folder" && ls -- *.deb)
