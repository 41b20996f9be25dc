#!/bin/sh
# make image: builds the image of packaging/docker/Dockerfile without docker: a bare Debian by
# debootstrap, and the packages of dist/ (make deb) by install.sh. The result,
# dist/ltensor-<version>-image.tar, is for `docker load` and `podman load`. Requires root and a
# network. BARE names a folder with a bare Debian to copy instead. Uses $VERSION, $EPOCH (the
# image's time).
set -eu
work=$(mktemp -d)
root=$work/root
trap 'rm -rf --one-file-system "$work"' EXIT
sh packaging/bare/make.sh "$root"
mkdir "$root/packages"
cp dist/*_"$VERSION"_*.deb packaging/docker/install.sh "$root/packages/"
sh packaging/bare/run.sh "$root" sh /packages/install.sh /packages >"$work/log" 2>&1 || { tail -n 30 "$work/log" >&2; exit 1; }
rm -r "$root/packages"

image=$work/image
mkdir "$image"
tar -C "$root" --numeric-owner --sort=name --mtime="@$EPOCH" --exclude='./dev/*' --exclude='./proc/*' -cf "$image/layer.tar" .
layer=$(sha256sum "$image/layer.tar" | cut -d' ' -f1)
architecture=$(dpkg --print-architecture)
cat >"$image/config.json" <<END
{"architecture": "$architecture", "os": "linux", "created": "$(date -u -d "@$EPOCH" +%Y-%m-%dT%H:%M:%SZ)",
 "config": {"User": "ltensor", "WorkingDir": "/work", "Entrypoint": ["ltensor"], "Env": ["PATH=/usr/local/bin:/usr/bin:/bin"]},
 "rootfs": {"type": "layers", "diff_ids": ["sha256:$layer"]}}
END
cat >"$image/manifest.json" <<END
[{"Config": "config.json", "RepoTags": ["ltensor:$VERSION"], "Layers": ["layer.tar"]}]
END
to=dist/ltensor-$VERSION-image.tar
tar -C "$image" --numeric-owner --owner=0 --group=0 --sort=name --mtime="@$EPOCH" -cf "$to" manifest.json config.json layer.tar
echo "$to: $(($(wc -c <"$to") / 1000000)) MB; docker load -i $to"
