#!/bin/sh
# Two builds in two folders give the same bytes: copies of the sources under different names are built with the same SOURCE_DATE_EPOCH,
# without a compiler's cache, one after the other with another number of jobs, another umask and without nvcc; then the libraries, the program, what is
# installed and, with `all`, the tarball and Debian's packages are compared. tests/packages/same.sh [all]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
CCACHE_DISABLE=1 SOURCE_DATE_EPOCH=1700000000
export CCACHE_DISABLE SOURCE_DATE_EPOCH
unset BUILD MAKEFLAGS MAKELEVEL MFLAGS
build() { # folder, jobs
    sh packaging/source.sh "$1"
    (
        cd "$1"
        make CUDA=no -j"$2" all
        make CUDA=no -j"$2" PREFIX=/usr DESTDIR="$1.installed" install # outside: the source package takes what is in the folder
        [ "${what-}" != all ] || make CUDA=no -j"$2" dist deb
    ) >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; exit 1; }
}
what=${1-}
build "$work/here" "$(nproc)"
(umask 077 && export NVCC= && build "$work/another/folder" 1)
failed=0 passed=0
cd "$work/here"
for file in $(find build -maxdepth 1 -type f \( -name '*.so' -o -name '*.a' -o -name ltensor \) | LC_ALL=C sort) \
    $(find ../here.installed -type f | LC_ALL=C sort) $([ "$what" != all ] || find dist -maxdepth 1 -type f ! -name '*.buildinfo' ! -name '*.changes' | LC_ALL=C sort); do
    case $file in ../*) other=../another/folder.installed${file#../here.installed} ;; *) other=../another/folder/$file ;; esac
    if cmp -s "$file" "$other"; then passed=$((passed + 1)); else
        echo "same.sh: $file is another one" >&2
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
