#!/bin/sh
# make binary-rock: packs dist/ltensor-VERSION.linux-MACHINE.rock for $LUA_NAME, which `luarocks install`
# installs without a compiler. The rock of another Lua than 5.4 is in dist/$LUA_NAME. Uses $BUILD.
#
#   packaging/rock.sh                        packs the rock
#   packaging/rock.sh bundle BUILD FOLDER    called by luarocks: adds the libraries that libltensor.so links, without those
#                                            of the C library, to the module's folder
#
# The libraries of a rock search their own folder.
set -eu
if [ "${1-}" = bundle ]; then
    ldd "$2/libltensor.so" "$2/libltensor_lua.so" | sed -n 's/.* => \(\/.*\) (0x.*/\1/p' | sort -u |
        grep -E '/lib(sleef|cjson|z)\.so' | while read -r library; do
        install -m 755 "$library" "$3/"
        real=$(readlink -f "$library")
        package=$(dpkg-query -S "$real" "${real#/usr}" 2>/dev/null | sed 's/:.*//;q')
        [ -z "$package" ] || install -m 644 "/usr/share/doc/$package/copyright" "$3/$(basename "$library").copyright"
    done
    exit
fi
version=${LUA_NAME#lua}
to=dist
[ "$version" = 5.4 ] || to=dist/$LUA_NAME
mkdir -p "$to" "$BUILD/rockspec"
# The libraries of a binary rock are those of one Lua.
for rockspec in ltensor-*.rockspec; do
    sed "s/^dependencies = .*/dependencies = { 'lua ~> $version' }/" "$rockspec" >"$BUILD/rockspec/$rockspec"
done
# luarocks make --pack-binary-rock (3.8) installs into the folder of its usual tree and packs nothing, so install into a tree first.
tree=$PWD/$BUILD/rockspec/tree
rm -rf "$tree"
export BUILD ROCK_BINARY=1
{ luarocks --lua-version "$version" --tree "$tree" make "$BUILD/rockspec/$rockspec" &&
    luarocks --lua-version "$version" --tree "$tree" pack ltensor; } >"$BUILD/rock.log" 2>&1 || {
    tail -n 30 "$BUILD/rock.log" >&2
    echo "binary-rock: luarocks failed; its output is in $BUILD/rock.log" >&2
    exit 1
}
rm -rf "$tree"
mv ltensor-*.rock "$to/"
ls "$to"/ltensor-*.rock
