# shellcheck shell=bash disable=SC2034,SC2154
packages=nmap programs=nmap lua=5.3

try() {
    start python3 -m http.server --bind 127.0.0.1 "$port"
    until_true curl -s "http://127.0.0.1:$port/"
    expect 'value 0.2' nmap -Pn -p "$port" --script ./network.nse 127.0.0.1
}
