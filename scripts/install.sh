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
. scripts/install_common.sh

install -d "$dest/bin" "$lib/ltensor" "$lua_folder" "$lib/pkgconfig" "$lib/cmake/ltensor" "$dest/include" \
    "$dest/share/ltensor/lib" "$dest/share/doc/ltensor/reference"

if [ "$LIBDIR" != lib ]; then
    install -d "$dest/lib"
    ln -sfnr "$lib/ltensor" "$dest/lib/ltensor"
fi

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
    # shellcheck disable=SC2086
    ${RUN-} "$BUILD/ltensor" --kernel install --prefix "$dest" >/dev/null
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

install_files
