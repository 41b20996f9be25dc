# shellcheck shell=bash disable=SC2034,SC2154
packages='apache2-bin curl' programs='apache2 curl' lua=5.3

try() {
    start apache2 -d "$PWD" -f "$PWD/httpd.conf" -DFOREGROUND
    until_true get predict
    for _ in $(seq 60); do # threads have networks of their own
        expect 'loss 0.00' get train
    done
    expect 'value 0.2' get predict
    kill -USR1 "$server" # new processes with new networks
    until_true answers 'value -0.1003'
    expect 'loss 0.00' get train
    stop TERM
}
