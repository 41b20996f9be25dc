#!/bin/sh
# A release: packaging/release.sh check|set VERSION|files
#
#   check        checks that the version is the same in include/ltensor.h, the rock, packaging/debian/changelog, pages of the guide
#   set VERSION  writes it there; the changelog of the packages gets an entry with the titles of the commits since the last tag v*
#   files        creates in dist/: a source archive, the tarball (make dist), the packages (make deb), and their checksums, SHA256SUMS
set -eu
header=include/ltensor.h
pages='docs/guide/install.md docs/guide/start.md'
version=$(sed -n 's/^.define LT_VERSION  *"\(.*\)"/\1/p' $header)
fail() {
    echo "release: $1" >&2
    exit 1
}

check() {
    number=$(sed -n 's/^.define LT_VERSION_NUMBER  *\([0-9]*\).*/\1/p' $header)
    # shellcheck disable=SC2046
    set -- $(echo "$version" | tr . ' ')
    [ "$number" -eq $(($1 * 1000000 + $2 * 1000 + $3)) ] || fail "LT_VERSION_NUMBER is $number, LT_VERSION is $version"
    [ -f "ltensor-$version-1.rockspec" ] || fail "there is no ltensor-$version-1.rockspec"
    grep -q "^version = '$version-1'" "ltensor-$version-1.rockspec" || fail "the rock is not of $version"
    head -n 1 packaging/debian/changelog | grep -qF "($version)" || fail "packaging/debian/changelog does not begin with $version"
    for page in $pages; do
        grep -qF "$version" "$page" || fail "$page shows another version than $version"
    done
    echo "release: $version everywhere"
}

set_version() {
    new=$1
    echo "$new" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$' || fail "a version is three numbers, as in 0.3.0, not '$new'"
    [ "$new" != "$version" ] || fail "it is $version already"
    # shellcheck disable=SC2046
    set -- $(echo "$new" | tr . ' ')
    sed -i -e "s/^\(.define LT_VERSION  *\)\"[^\"]*\"/\1\"$new\"/" \
        -e "s/^\(.define LT_VERSION_NUMBER  *\)[0-9]*/\1$(($1 * 1000000 + $2 * 1000 + $3))/" $header
    pattern=$(echo "$version" | sed 's/\./\\./g')
    # shellcheck disable=SC2086
    sed -i "s/$pattern/$new/g" $pages
    sed "s/$pattern/$new/g" "ltensor-$version-1.rockspec" >"ltensor-$new-1.rockspec"
    rm "ltensor-$version-1.rockspec"
    last=$(git describe --tags --match 'v*' --abbrev=0 2>/dev/null || true)
    maintainer=$(sed -n 's/^Maintainer: //p' packaging/debian/control)
    {
        printf 'ltensor (%s) unstable; urgency=medium\n\n' "$new"
        git log --no-merges --format=%s ${last:+"$last"..} -n 40 | while IFS= read -r title; do
            echo "$title" | fold -s -w 74 | sed 's/ *$//; 1s/^/  * /; 2,$s/^/    /'
        done
        printf '\n -- %s  %s\n\n' "$maintainer" "$(LC_ALL=C date -u -R)"
        cat packaging/debian/changelog
    } >packaging/debian/changelog.new
    mv packaging/debian/changelog.new packaging/debian/changelog
    echo "release: $version is $new now; look packaging/debian/changelog over, rename \"Unreleased\" in CHANGELOG.md, add the version to packaging/tags.sh; then commit"
}

files() {
    check
    SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l packaging/debian/changelog -S Timestamp) export SOURCE_DATE_EPOCH
    rm -rf dist
    make dist deb
    name=ltensor-$version
    sh packaging/source.sh "dist/$name"
    tar -C dist --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" --sort=name -cf - "$name" | gzip -9n >"dist/$name.tar.gz"
    rm -r "dist/${name:?}"
    cd dist
    sums=$(find . -maxdepth 1 -type f -printf '%f\n' | LC_ALL=C sort | xargs sha256sum)
    echo "$sums" >SHA256SUMS
    cat SHA256SUMS
}

case ${1-} in
    check) check ;;
    set) set_version "${2-}" ;;
    files) files ;;
    *) echo "usage: packaging/release.sh check|set VERSION|files" >&2; exit 2 ;;
esac
