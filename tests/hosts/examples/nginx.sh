# shellcheck shell=bash disable=SC2034,SC2154
packages='nginx-light curl' programs='nginx curl' lua=ffi needs=lua_module

# The packages of nginx's module conflict with the package luajit: INSTALL=yes unpacks them in a folder and leaves luajit installed.
modules=/usr/lib/nginx/modules unpacked=$BUILD/nginx
lua_module() {
    [ ! -f $modules/ngx_http_lua_module.so ] || return 0
    if [ ! -f "$unpacked/$modules/ngx_http_lua_module.so" ] && [ "${INSTALL-}" = yes ]; then
        mkdir -p "$unpacked/packages"
        (cd "$unpacked/packages" && apt-get download -qq libnginx-mod-http-lua libnginx-mod-http-ndk libluajit2-5.1-2 lua-resty-core lua-resty-lrucache) >"$folder/apt" 2>&1
        for package in "$unpacked"/packages/*.deb; do dpkg -x "$package" "$unpacked"; done
    fi
    if [ ! -f "$unpacked/$modules/ngx_http_lua_module.so" ]; then
        echo 'no module of Lua for nginx: apt-get install libnginx-mod-http-lua, or INSTALL=yes, which unpacks it beside the package luajit'
        return 1
    fi
}
try() {
    if [ ! -f $modules/ngx_http_lua_module.so ]; then
        sed -i "s|^load_module modules/|load_module $unpacked/$modules/|; s|lua_package_path '|&$unpacked/usr/share/lua/5.1/?.lua;|" nginx.conf
        LD_LIBRARY_PATH=$(dirname "$unpacked"/usr/lib/*/libluajit-5.1.so.2)
        export LD_LIBRARY_PATH
    fi
    # The module of the tests is found first, which needs two variables.
    sed -i "s|lua_package_path '|&$ROOT/tests/hosts/measured/?.lua;|; s|^pid|env HOST_FOLDER; env ROOT; &|" nginx.conf
    start nginx -c "$PWD/nginx.conf" -e "$PWD/nginx.log" -g 'daemon off;'
    until_true get predict
    expect 'value -0.4' get predict
    for _ in 1 2 3 4 5 6 7 8; do # two workers answer, each with a network of its own
        expect 'loss 0.00' get train
    done
    until_true answers 'value 0.2'
    kill -HUP "$server" # new workers with new networks
    until_true answers 'value -0.4'
    expect 'loss 0.00' get train
    stop QUIT
}
