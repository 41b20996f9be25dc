# shellcheck shell=bash disable=SC2034,SC2154
packages=dnsmasq-base-lua programs=dnsmasq lua=5.4 needs=root

try() {
    echo "$(($(date +%s) + 3600)) 02:00:00:00:00:01 127.0.0.12 printer *" >leases
    start dnsmasq --keep-in-foreground --log-facility=- --conf-file=dnsmasq.conf
    until_true noted 'old 127.0.0.12 value 0.2'
    expect 'loss 0.00' cat notes
    : >notes
    kill -HUP "$server" # reads its files and calls the script for each lease again
    until_true noted 'old 127.0.0.12 value 0.2'
    stop TERM
    until_true noted shutdown
}
noted() { grep -qF -e "$1" notes; }
