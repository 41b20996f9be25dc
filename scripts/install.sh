#!/bin/sh
# make install: installs $BUILD to $DESTDIR$PREFIX. Also needs $VERSION, $GEN (the generated
# headers) and $LIBS, $LUA_LIBS (the linker arguments of a program with the static libraries).
# The files are written to a temporary folder first; what it contains is the list of installed
# files (share/ltensor/installed), which uninstall.sh reads.
#
# LIBDIR is the prefix's library folder (lib, or a distribution's lib64 or lib/x86_64-linux-gnu):
# the program searches lib/ltensor, which is then a symbolic link.
#
#   bin/ltensor                        the program
#   lib/libltensor.{so,a}              the library; libltensor_lua.{so,a}: the binding; libltensor_repl.a: the prompt for hosts
#   lib/lua/5.4/torch.so               the module for lua5.4; 5.3 or 5.5 by $LUA_NAME
#   lib/ltensor/                       the GPU backends, the engines of torch.distributed, the Jupyter kernel
#   lib/pkgconfig/, lib/cmake/ltensor/ for programs that use the library
#   include/                           the headers, and ltensor.json, which describes them for generators of bindings
#   share/ltensor/lib/, share/doc/ltensor/
#   share/lua/5.1/ltensor-ffi.lua      the module for LuaJIT
#   share/man, share/bash-completion, share/zsh, share/fish    the manual page, completion of the command line
#   share/jupyter/kernels/ltensor      the kernel specification for Jupyter
#
# Installed files are stripped. Their debug information is in a folder .debug beside each, where gdb
# searches (NAME.debug, identified by the name and checksum in the stripped file). STRIP=no does not
# strip, for packagers. Nothing installed names the prefix except the Jupyter kernel, so you can move
# it.
set -eu
umask 022 # other users read the files
BUILD=${BUILD-build}
target=${DESTDIR-}$PREFIX
dest=$(mktemp -d "$BUILD/install.XXXXXX")
trap 'rm -rf "$dest"' EXIT
dest=$(realpath "$dest")
lib=$dest/$LIBDIR
# Where a system has a single Lua, its name has no version.
case ${LUA_NAME-} in
    *5.3 | *53) lua_folder=$lib/lua/5.3 ;;
    *5.5 | *55) lua_folder=$lib/lua/5.5 ;;
    *) lua_folder=$lib/lua/5.4 ;;
esac

install -d "$dest/bin" "$lib/ltensor" "$lua_folder" "$lib/pkgconfig" "$lib/cmake/ltensor" "$dest/include" \
    "$dest/share/ltensor/lib" "$dest/share/doc/ltensor/reference"

if [ "$LIBDIR" != lib ]; then
    install -d "$dest/lib"
    ln -sfnr "$lib/ltensor" "$dest/lib/ltensor"
fi

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

# A library of selected ops (make MINIMAL=1) has no program, prompt or simulated GPUs.
[ ! -f "$BUILD/ltensor" ] || install_binary "$BUILD/ltensor" "$dest/bin/ltensor"
for library in libltensor libltensor_lua; do
    install_binary "$BUILD/$library.so" "$lib/$library.so.$SONAME"
    ln -sf "$library.so.$SONAME" "$lib/$library.so"
done
install_binary "$BUILD/torch.so" "$lua_folder/torch.so"
for backend in sim cuda cuda12 openmpi mpich jupyter; do
    file=libltensor_$backend.so
    [ ! -f "$BUILD/$file" ] || install_binary "$BUILD/$file" "$lib/ltensor/$file"
done
for library in libltensor libltensor_lua libltensor_repl; do
    [ -f "$BUILD/$library.a" ] || continue
    install -m 644 "$BUILD/$library.a" "$lib/"
    [ "${STRIP-yes}" = no ] || objcopy --strip-debug "$lib/$library.a"
done

for header in include/*.h include/*.hpp "$GEN/ltensor_ops.h" "$GEN/ltensor_ops.hpp"; do
    case $header in *_prompt.h) [ -f "$BUILD/libltensor_repl.a" ] || continue ;; esac
    install -m 644 "$header" "$dest/include/"
done
install -m 644 "$GEN/ltensor.json" "$dest/include/"
install -d "$dest/share/lua/5.1"
sed "s|'../../../lib/'|'../../../$LIBDIR/'|" "$BUILD/ltensor-ffi.lua" >"$dest/share/lua/5.1/ltensor-ffi.lua"
chmod 644 "$dest/share/lua/5.1/ltensor-ffi.lua"
cp -R lib/. "$dest/share/ltensor/lib/"
install -m 644 "$BUILD"/meta/*.lua "$dest/share/ltensor/lib/meta/"
install -m 644 "$BUILD"/docs/*.md "$dest/share/doc/ltensor/reference/"
install -m 644 README.md LICENSE "$dest/share/doc/ltensor/"
if [ -d "$BUILD/site/html" ]; then # make site; help() opens it
    cp -R "$BUILD/site/html" "$dest/share/doc/ltensor/html"
fi
install_data() { install -D -m 644 "$1" "$dest/share/$2"; }
if [ -f "$BUILD/ltensor" ]; then
    install_data "$BUILD/shell/ltensor.1" man/man1/ltensor.1
    install_data "$BUILD/shell/ltensor.bash" bash-completion/completions/ltensor
    install_data "$BUILD/shell/_ltensor" zsh/site-functions/_ltensor
    install_data "$BUILD/shell/ltensor.fish" fish/vendor_completions.d/ltensor.fish
fi
if [ -f "$BUILD/libltensor_jupyter.so" ]; then
    "$BUILD/ltensor" --kernel install --prefix "$dest" >/dev/null
    kernel=$dest/share/jupyter/kernels/ltensor
    sed "s|\"/[^\"]*/ltensor\"|\"$PREFIX/bin/ltensor\"|" "$kernel/kernel.json" >"$kernel/kernel.json.new"
    mv "$kernel/kernel.json.new" "$kernel/kernel.json"
    chmod 644 "$kernel"/*
fi

to_prefix=$(echo "$LIBDIR" | sed 's|[^/]*|..|g')
fill() {
    sed -e "s|@TO_PREFIX@|$to_prefix|" -e "s|@VERSION@|$VERSION|" -e "s|@SONAME@|$SONAME|" -e "s|@LIBS@|$LIBS|" -e "s|@LUA_LIBS@|$LUA_LIBS|" -e "s|@LUA_NAME@|$LUA_NAME|" "$1" >"$2"
}
for package in ltensor ltensor-static ltensor_lua ltensor_lua-static; do
    fill "packaging/pkg-config/$package.pc.in" "$lib/pkgconfig/$package.pc"
done
for file in ltensor-config.cmake ltensor-config-version.cmake; do
    fill "packaging/cmake/$file.in" "$lib/cmake/ltensor/$file"
done

# ---- the list of installed files, then the files ----
# Folders that do not exist yet end in "/", and "./" is the prefix. The list of an earlier
# installation is kept, so that uninstall also removes files that this version no longer has.
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
