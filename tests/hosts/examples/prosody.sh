# shellcheck shell=bash disable=SC2034,SC2154
packages='prosody curl' programs='prosody curl' lua=5.4

try() {
    mkdir data
    if [ "$(id -u)" = 0 ]; then
        chown -R prosody .
        start setpriv --reuid=prosody --regid=prosody --clear-groups prosody --config prosody.cfg.lua -F
    else
        start prosody --config prosody.cfg.lua -F
    fi
    until_true get predict
    learns get
    kill -HUP "$server" # reads its configuration
    until_true grep -q 'Reloading configuration' prosody.log
    learns get
    stop TERM
}
