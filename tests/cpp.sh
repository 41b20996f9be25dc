#!/bin/sh
# ltensor.hpp in programs that link the libltensor of $BUILD (default build): tests/cpp with each compiler and standard, with and
# without exceptions, and in two files of one program; the program of the guide; an audio
# callback that may neither allocate nor lock.
set -eu
BUILD=${BUILD-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0

# build PROGRAM COMPILER...: the sources follow the options of the compiler.
build() {
    program=$1
    shift
    "$@" -Wall -Wextra -Wshadow -pedantic -Werror -Iinclude -I"$BUILD/gen" -o "$folder/$program" -L"$BUILD" -Wl,-rpath,"$PWD/$BUILD" -lltensor -lm -ldl
}

echo '#include "ltensor.hpp"' >"$folder/unit.cpp"
guide=docs/guide/embedding.md # a program and the text that it prints
# shellcheck disable=SC2016 # fences of code
{
    sed -n '/^```cpp$/,/^```$/p' $guide | grep -v '^```' >"$folder/guide.cpp"
    sed -n '/^```cpp$/,/^## /p' $guide | sed -n '/^```text$/,/^```$/p' | grep -v '^```' >"$folder/expected"
}
# Code in the sentences of the guide: each call stands in a program of tests/cpp, too.
# shellcheck disable=SC2016 # code
sed -n '/^## Write C++$/,/^## Compute/p' $guide | grep -o '`[^`]*`' | tr -d '`' | grep -F '(' >"$folder/calls"
[ "$(wc -l <"$folder/calls")" -ge 10 ]
while read -r span; do
    grep -qF -e "$span" tests/cpp/*.cpp || { echo "cpp.sh: no program of tests/cpp has $span, which the guide shows" >&2; exit 1; }
done <"$folder/calls"
passed=$((passed + 1))
for compiler in g++ clang++; do
    command -v $compiler >/dev/null || { echo "cpp.sh: $compiler is not installed: not tested"; continue; }
    for standard in c++17 c++20; do
        build tests $compiler -std=$standard tests/cpp/header.cpp "$folder/unit.cpp"
        "$folder/tests" >"$folder/output" || { cat "$folder/output" >&2; exit 1; }
        passed=$((passed + $(sed -n 's/ tests$//p' "$folder/output")))
        build spans $compiler -std=$standard tests/cpp/spans.cpp
        LTENSOR_SIM_GPUS=1 "$folder/spans"
        build guide $compiler -std=$standard "$folder/guide.cpp"
        "$folder/guide" >"$folder/output"
        cmp "$folder/output" "$folder/expected"
        passed=$((passed + 2))
    done
    build quiet $compiler -std=c++17 -fno-exceptions tests/cpp/no_exceptions.cpp
    "$folder/quiet"
    passed=$((passed + 1))
done
for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    build realtime $compiler -std=c11 tests/cpp/realtime.c
    "$folder/realtime"
    passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
