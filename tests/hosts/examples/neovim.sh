# shellcheck shell=bash disable=SC2034,SC2154
packages=neovim programs=nvim lua=ffi

try() {
    echo 'a line' >text.txt
    nvim --clean --headless -n -c 'luafile predict.lua' -c Predict -c wq text.txt >log 2>&1
    expect 'value 0.2' cat text.txt
}
