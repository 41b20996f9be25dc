# shellcheck shell=bash disable=SC2034,SC2154
packages=gnuplot-nox programs=gnuplot lua=5.4

try() {
    gnuplot square.gp
    expect 'points, largest difference 0.0' cat residual.txt
}
