# shellcheck shell=bash disable=SC2034,SC2154
packages=mle programs=mle lua=5.4

try() { expect 'here: value 0.2' edit; }
edit() { printf 'here: ' | mle -N -x square.lua -K keys,,1 -k cmd_square,M-q, -n keys -M 'test C-e M-q' -p test; }
