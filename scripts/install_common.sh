#!/bin/sh
# install_common.sh - the parts of make install that install.sh and install_module.sh share. Needs $PREFIX, $LIBDIR, $LUA_NAME,
# $DESTDIR and $BUILD. Sets dest, the temporary folder that the files are written to, lib and lua_folder in it.
set -eu
umask 022 # other users read the files
BUILD=${BUILD-build}
target=${DESTDIR-}$PREFIX
dest=$(mktemp -d "$BUILD/install.XXXXXX")
trap 'rm -rf "$dest"' EXIT
dest=$(realpath "$dest")
lib=$dest/$LIBDIR
# Where a system has a single Lua, its name has no version.
# shellcheck disable=SC2034
case ${LUA_NAME-} in
    *5.3 | *53) lua_folder=$lib/lua/5.3 ;;
    *5.5 | *55) lua_folder=$lib/lua/5.5 ;;
    *) lua_folder=$lib/lua/5.4 ;;
esac

# install_binary FILE TO: installs an executable or shared library.
install_binary() {
    from=$1 to=$2 folder=$(dirname "$2") name=$(basename "$2")
    if [ "${STRIP-yes}" = no ]; then
        install -m 755 "$from" "$to"
        return
    fi
    install -d "$folder/.debug"
    objcopy --only-keep-debug --compress-debug-sections "$from" "$folder/.debug/$name.debug"
    chmod 644 "$folder/.debug/$name.debug"
    objcopy --strip-unneeded --add-gnu-debuglink="$folder/.debug/$name.debug" "$from" "$to"
    chmod 755 "$to"
}

# Copies the files from the temporary folder to the target, with the list of them. Folders that do
# not exist yet end in "/", and "./" is the prefix. The list of an earlier installation is kept, so
# that uninstall also removes files that this version no longer has.
install_files() {
    manifest=share/ltensor/installed
    touch "$dest/$manifest"
    {
        [ ! -f "$target/$manifest" ] || cat "$target/$manifest"
        (cd "$dest" && find . ! -type d) | sed 's|^\./||'
        (cd "$dest" && find . -type d) | sed 's|^\./||' | while read -r folder; do
            [ -d "$target/$folder" ] || echo "$folder/"
        done
    } | LC_ALL=C sort -u >"$dest/$manifest.new"
    mv "$dest/$manifest.new" "$dest/$manifest"

    # tar replaces files instead of overwriting them: a running program keeps its own.
    install -d "$target"
    tar -C "$dest" -cf - . | tar -C "$target" --no-overwrite-dir --keep-directory-symlink --no-same-owner -mxpf -
}
