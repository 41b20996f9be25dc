# shellcheck shell=bash disable=SC2034,SC2154
packages=g++ programs=c++ lua=

try() {
    c++ -std=c++17 -O1 -Wall -Wextra -Werror network.cpp -o network -I"$ROOT/include" -I"$BUILD/gen" -L"$BUILD" -Wl,-rpath,"$BUILD" -lltensor
    expect 'loss 0.00' ./network
    expect 'value 0.2' ./network
}
