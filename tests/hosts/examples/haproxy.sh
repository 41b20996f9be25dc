# shellcheck shell=bash disable=SC2034,SC2154
packages='haproxy curl' programs='haproxy curl' lua=5.3

try() {
    serve
    [ "$(id -u)" != 0 ] || in_chroot
}
serve() {
    start haproxy -W -db -f haproxy.cfg
    until_true get predict
    expect 'value -0.1003' get predict
    learns get
    kill -USR2 "$server" # a new worker with a new network
    until_true answers 'value -0.1003'
    expect 'loss 0.00' get train
    stop USR1
}
# As user nobody in an empty folder: OpenBLAS is found because the script calls it when it is loaded.
in_chroot() {
    mkdir empty
    sed -i "s|^global|&\n    chroot $PWD/empty\n    uid 65534\n    gid 65534|; s|lua-load|lua-load-per-thread|" haproxy.cfg
    cat >>network_service.lua <<'LUA'
local torch = require 'torch'
torch.linalg.inv(torch.eye(1))
local answer = network.answer
function network.answer(request)
  assert(torch.linalg.inv(torch.eye(200)):sum():item() == 200)
  torch.nn.functional.conv2d(torch.rand(1, 3, 64, 64), torch.rand(8, 3, 3, 3))
  return answer(request)
end
LUA
    serve
}
