#!/bin/sh
# A library of three ops (make MINIMAL=1): what was chosen works, gradients too; what was not is not there by name, in C, by lt_call and
# in Lua; a static program with it is small. Uses $BUILD (default build).
set -eu
BUILD=${BUILD-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
fail() { echo "minimal.sh: $1" >&2; exit 1; }

echo 'mm relu # a comment
sum' >"$work/ops"
make --no-print-directory -s BUILD="$BUILD" MINIMAL=1 OPS="$work/ops" >"$work/out" 2>&1 || { cat "$work/out" >&2; exit 1; }
minimal=$BUILD/minimal

for library in "$minimal/libltensor.so" "$minimal/libltensor.a"; do
    # shellcheck disable=SC2046
    nm -P -g --defined-only $(test "${library%.so}" = "$library" || echo -D) "$library" | sed 's/[@ ].*//' >"$work/names"
    for name in lt_mm lt_relu_ lt_sum lt_tensor_wrap; do grep -qx $name "$work/names" || fail "$library lacks $name"; done
    # lt_add_ is a private symbol of the Lua library, which counts positions from 1.
    if grep -x 'lt_erfinv\|lt_softmax\|lt_mul_' "$work/names"; then fail "$library shows what was not chosen"; fi
    passed=$((passed + 1))
done

cc -O2 -Iinclude -I"$minimal/gen" tests/bench/start/product.c "$minimal/libltensor.a" -Wl,--gc-sections -Wl,--as-needed -lsleef -lz -lcjson \
    -lm -ldl -lpthread -o "$work/product"
[ "$("$work/product")" = 376 ] || fail "the product is not right: $("$work/product")"
strip "$work/product"
size=$(wc -c <"$work/product")
[ "$size" -le 3200000 ] || fail "the program has $size bytes"
passed=$((passed + 1))

cat >"$work/absent.c" <<'END'
#include <stdio.h>
#include "ltensor.h"
int main(void)
{
    puts(lt_call("erfinv", NULL, 0, NULL, 0, NULL, NULL) != LT_OK ? lt_error_message() : "erfinv is there");
#ifdef LINK
    lt_tensor *x = NULL;
    return lt_erfinv(x, &x);
#endif
}
END
cc -I"$minimal/gen" -Iinclude "$work/absent.c" -L"$minimal" -Wl,-rpath,"$PWD/$minimal" -lltensor -o "$work/absent"
"$work/absent" >"$work/out"
grep -q erfinv "$work/out" || fail "lt_call says: $(cat "$work/out")"
if cc -w -DLINK -I"$minimal/gen" -Iinclude "$work/absent.c" -L"$minimal" -lltensor -o "$work/absent" 2>"$work/out"; then fail "lt_erfinv links"; fi
grep -q "undefined reference to .lt_erfinv'" "$work/out" || fail "the linker says: $(cat "$work/out")"
passed=$((passed + 2))

echo '#include "ltensor.hpp"
int main() { return lt::mm(lt::from_blob(new float(2), {1, 1}), lt::from_blob(new float(3), {1, 1})).item<int>() - 6; }' >"$work/least.cpp"
c++ -std=c++17 -Wall -Wextra -Werror -I"$minimal/gen" -Iinclude "$work/least.cpp" -L"$minimal" -Wl,-rpath,"$PWD/$minimal" -lltensor -o "$work/least"
"$work/least" || fail 'the C++ header computes another product'
passed=$((passed + 1))

cc -std=c99 -Wall -Wextra -Werror -shared -fPIC -Iinclude tests/abi/plugin/plugin.c -o "$work/plugin.so"
PLUGIN="$work/plugin.so" LUA_CPATH="$minimal/?.so" lua5.4 - >"$work/out" 2>&1 <<'END' || fail "$(cat "$work/out")"
local torch = require 'torch'
local x = torch.tensor({ { 1.0, -2.0 }, { 3.0, 4.0 } }, { requires_grad = true })
torch.mm(x, x):relu():sum():backward()
-- x x = {{-5, -10}, {15, 10}}, of which relu lets the second row through: G x^T + x^T G with G = {{0, 0}, {1, 1}}.
for i, row in ipairs { { 3, 3 }, { 3, 11 } } do
  for j, expected in ipairs(row) do assert(x.grad[i][j]:item() == expected, tostring(x.grad)) end
end
assert(torch.softmax == nil and torch.erfinv == nil)
assert(torch.where == nil and torch.nonzero == nil and not pcall(function() return x:nonzero() end)) -- which the binding stands before
local ok, message = pcall(function() return x:erfinv() end)
assert(not ok and message:find("a Tensor has no field 'erfinv'", 1, true), message)
local picture, why = torch._C.decode_image('no picture', 3)
assert(picture == nil and why:find('without image formats', 1, true), why)
assert(not torch.cuda.is_available())
-- own operations
torch.ops.load_library(os.getenv 'PLUGIN')
local z = torch.tensor({ 1.0, 2.0 }, { dtype = torch.float64, requires_grad = true })
torch.ops.frozen.scale(z, 3):backward(torch.tensor({ 1.0, 2.0 }, { dtype = torch.float64 }))
assert(z.grad[2]:item() == 6)
assert(select(2, torch.ops.frozen.facts(z)) == true)
END
passed=$((passed + 1))
echo "$passed passed, 0 failed"
