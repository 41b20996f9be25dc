# shellcheck shell=bash disable=SC2034,SC2154
packages=haproxy programs=haproxy lua=5.3

try() {
    start haproxy -W -db -f haproxy.cfg
    until_true get predict
    expect 'value -0.1003' get predict
    learns get
    kill -USR2 "$server" # a new worker with a new network
    until_true answers 'value -0.1003'
    expect 'loss 0.00' get train
    stop USR1
}
