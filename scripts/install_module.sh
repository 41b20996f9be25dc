#!/bin/sh
# make install for a second Lua, such as LUA_NAME=lua5.3: installs the module and the core, which are
# enough for a host, beside the installation for Lua 5.4 or alone. Needs the variables of install.sh.
#
#   lib/lua/5.3/torch.so, libltensor_lua.so.0   the module and its binding
#   lib/libltensor.so, lib/ltensor/             the core, the GPU backends and the engines of torch.distributed
. scripts/install_common.sh

install -d "$lib/ltensor" "$lua_folder" "$dest/share/ltensor"
install_binary "$BUILD/torch.so" "$lua_folder/torch.so"
install_binary "$BUILD/libltensor_lua.so" "$lua_folder/libltensor_lua.so.$SONAME"
install_binary "$BUILD/libltensor.so" "$lib/libltensor.so.$SONAME"
ln -sf "libltensor.so.$SONAME" "$lib/libltensor.so"
for backend in sim cuda cuda12 openmpi mpich; do
    file=libltensor_$backend.so
    [ ! -f "$BUILD/$file" ] || install_binary "$BUILD/$file" "$lib/ltensor/$file"
done
install_files
