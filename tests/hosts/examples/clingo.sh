# shellcheck shell=bash disable=SC2034,SC2154
packages=gringo programs=gringo lua=5.4

try() {
    expect 'square(5,2' gringo --text squares.lp
    expect 'square(5,2' clingo --mode=gringo --text squares.lp
}
