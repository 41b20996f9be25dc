#!/bin/sh
# Rejects an include that goes against the arrows: repl -> lib -> src/lua -> src/core; src/cuda -> src/core.
# Core includes no Lua and no CUDA header; the CUDA backend sees of core only what backends may.
set -eu
status=0
refuse() {
    found=$(grep -nE "$2" $(find $1 -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp') /dev/null |
        grep -v '/sim/include/' || true)
    [ -z "$found" ] && return
    printf 'layers: %s\n%s\n' "$3" "$found" >&2
    status=1
}
refuse src/core '#include *[<"](lua|lauxlib|lualib|cuda|cublas)' 'core includes no Lua and no CUDA header'
refuse src/lua '#include *[<"](cuda|cublas|readline)' 'the binding includes no CUDA and no readline header'
refuse src/cuda '#include *[<"](lua|lauxlib|tensor\.h|autograd\.h|mem\.h)' \
    'a backend includes only backend.h, backend_abi.h, iter.h, random.h, half.h, formulas.h and ltensor.h of core'
exit $status
