#!/bin/sh
# The blocks of C and C++ in README.md, docs/guide and the first comments of headers: each is compiled as a part of a program of
# tests/documents, linked with the libraries of $BUILD (default build), and run. The first line of a program names the document, the
# section and, from the second block of a section on, its number. Each block has a program. The C++ of the guide: cpp.sh.
set -eu
BUILD=${BUILD-build}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
passed=0
fail() {
    echo "documents.sh: $1" >&2
    [ ! -s "$folder/out" ] || cat "$folder/out" >&2
    exit 1
}

# block DOCUMENT SECTION NUMBER: writes a block of C of a section, or the example in the first comment of a header, to block.inc,
# and the output that a section shows below its block to expected.
block() {
    : >"$folder/expected"
    case $1 in
        *.md) awk -v section="## $2" -v number="$3" -v expected="$folder/expected" '
            /^## / { inside = $0 == section; found = 0 }
            /^```$/ { if (copies == 2) exit; if (copies == 1) { done = NR; copies = 0 }; next }
            /^```text$/ { if (done && NR == done + 1) { copies = 2; next } }
            /^```c$/ { if (inside && ++found == number) { copies = 1; next } }
            copies == 1
            copies == 2 { print > expected }' "$1" ;;
        *) awk '/^ \*   / { print substr($0, 6); copies = 1; next } copies { exit }' "$1" ;;
    esac
}

"$BUILD/ltensor" --disable-cuda -e "local nn = torch.nn
    local Square = nn.Module:extend 'Square'
    function Square.forward(_, x) return x * x end
    torch.onnx.export(Square(), torch.ones(3), '$folder/digits.onnx')
    local tiny = dofile 'tests/lua/support/tiny_llama.lua'
    io.open('$folder/model.gguf', 'wb'):write((tiny.text(tiny.tokenizer())))
    local family = dofile 'tests/lua/support/family_tensors.lua'
    io.open('$folder/all-MiniLM-L6-v2', 'wb'):write(family.encoder_gguf())"
LTENSOR_SIM_GPUS=2 export LTENSOR_SIM_GPUS
root=$PWD
libraries="-L$root/$BUILD -Wl,-rpath,$root/$BUILD -lltensor_lua -lltensor -llua5.4 -lm"
for program in tests/documents/*.c tests/documents/*.cpp; do
    source=$(sed -n '1s|^/\* \(.*\) \*/$|\1|p' "$program")
    document=${source%%: *} section=${source#*: } number=1
    case $section in *' 2') number=2 section=${section% 2} ;; esac
    block "$document" "$section" "$number" >"$folder/block.inc"
    [ -s "$folder/block.inc" ] || fail "$program: $document has no such block: $source"
    case $program in *.cpp) compiler='c++ -std=c++17' ;; *) compiler='cc -std=c11' ;; esac
    kind=
    grep -q lt_plugin_open "$folder/block.inc" && kind='-shared -fPIC'
    # shellcheck disable=SC2046,SC2086
    $compiler -Wall -Wextra -Werror -I"$folder" -Iinclude -I"$BUILD/gen" $(pkg-config --cflags lua5.4) "$program" $kind \
        -o "$folder/program" $libraries >"$folder/out" 2>&1 || fail "$program does not compile"
    if [ -n "$kind" ]; then
        "$BUILD/ltensor" -e "torch.ops.load_library '$folder/program'
            assert(torch.ops.myops.twice(torch.ones(2)):sum():item() == 4)" >"$folder/out" 2>&1 || fail "$program fails"
    else
        (cd "$folder" && ./program) >"$folder/out" 2>&1 || fail "$program fails"
        [ ! -s "$folder/expected" ] || cmp "$folder/out" "$folder/expected" || fail "$program has other output than $document shows"
    fi
    passed=$((passed + 1))
done
blocks=$(cat README.md docs/guide/*.md | grep -c '^```c$')
programs=$(sed -n 1p tests/documents/*.c -s | grep -c '\.md: ')
[ "$blocks" = "$programs" ] || fail "the documents have $blocks blocks of C, and $programs have a program in tests/documents"
echo "$passed passed, 0 failed"
