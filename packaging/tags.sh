#!/bin/sh
# Creates the annotated tags of the released versions in this clone: packaging/tags.sh [push]
#
# A tag's text is the version's section of CHANGELOG.md. Existing tags do not change. push: also
# pushes the tags to origin.
set -eu
# Each version and its last commit.
versions='0.1.0 dc822076^ 0.2.0 db023fd9'

section() { # version
    awk -v title="## $1 " 'index($0, title) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md | sed 's/^### \(.*\)$/\1:/'
}

# shellcheck disable=SC2086
set -- "${1-}" $versions
push=$1
shift
while [ $# -gt 0 ]; do
    tag=v$1 commit=$(git rev-parse --verify --quiet "$2^{commit}") || {
        echo "tags: commit $2 of $1 is not in this clone; fetch the whole history (git fetch --unshallow)" >&2
        exit 1
    }
    if git rev-parse --verify --quiet "refs/tags/$tag" >/dev/null; then
        echo "$tag exists"
    else
        # The tag has the date of its commit.
        { printf 'ltensor %s\n\n' "$1" && section "$1"; } |
            GIT_COMMITTER_DATE=$(git log -1 --format=%cI "$commit") git tag --annotate --cleanup=whitespace --file=- "$tag" "$commit"
        echo "$tag: $(git log -1 --format='%h %cs' "$commit")"
    fi
    [ "$push" != push ] || git push origin "refs/tags/$tag"
    shift 2
done
