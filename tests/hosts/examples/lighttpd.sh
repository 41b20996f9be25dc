# shellcheck shell=bash disable=SC2034,SC2154
packages='lighttpd lighttpd-modules-lua' programs=lighttpd lua=5.4

try() {
    start lighttpd -D -f lighttpd.conf
    until_true get predict
    expect 'value -0.1003' get predict
    # Two workers answer, each with a network of its own.
    for _ in 1 2 3 4 5 6 7 8; do
        expect 'loss 0.00' get train
    done
    until_true answers 'value 0.2'
    kill -USR1 "$server" # new workers with new networks
    until_true answers 'value -0.1003'
    expect 'loss 0.00' get train
    stop INT
}
