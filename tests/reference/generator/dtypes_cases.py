"""What PyTorch makes of pairs of dtypes, and how numbers are stored in each: a header for tests/core/dtype_test.c."""

import struct

import torch

SUFFIX = ".h"

DTYPES = {
    "LT_BOOL": torch.bool, "LT_UINT8": torch.uint8, "LT_INT8": torch.int8, "LT_INT16": torch.int16, "LT_INT32": torch.int32,
    "LT_INT64": torch.int64, "LT_FLOAT16": torch.float16, "LT_BFLOAT16": torch.bfloat16, "LT_FLOAT32": torch.float32,
    "LT_FLOAT64": torch.float64, "LT_COMPLEX32": torch.complex32, "LT_COMPLEX64": torch.complex64, "LT_COMPLEX128": torch.complex128,
    "LT_UINT16": torch.uint16, "LT_UINT32": torch.uint32, "LT_UINT64": torch.uint64,
    "LT_FLOAT8_E5M2": torch.float8_e5m2, "LT_FLOAT8_E4M3FN": torch.float8_e4m3fn, "LT_FLOAT8_E5M2FNUZ": torch.float8_e5m2fnuz,
    "LT_FLOAT8_E4M3FNUZ": torch.float8_e4m3fnuz, "LT_FLOAT8_E8M0FNU": torch.float8_e8m0fnu,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}

# Halves between two float16 and two bfloat16, the ends of their ranges, subnormals and what is no number.
NUMBERS = [
    0.0, -0.0, 1.0, -1.5, 1 / 3, 2049.0, 2051.0, 65504.0, 65519.0, 65520.0, 1e5, -1e5, 2.0 ** -14, 2.0 ** -24, 2.0 ** -25,
    3 * 2.0 ** -25, 257.0, 259.0, 3.3895313892515355e38, 3.4e38, 1e39, 1e-40, 1e-46, float("inf"), float("-inf"), float("nan"),
]


def table(out, kind, name, entry):
    out.append(f"static const {kind} {name}[LT_DTYPE_COUNT][LT_DTYPE_COUNT] = {{")
    for row, a in DTYPES.items():
        out.append(f"    [{row}] = {{{', '.join(entry(a, b) for b in DTYPES.values())}}},")
    out.append("};")


def promoted(a, b):
    try:
        return NAMES[torch.promote_types(a, b)]
    except RuntimeError:  # unsigned integers with what is no float, floats of one byte with another dtype
        return "LT_DTYPE_NONE"


def bits(x, dtype):
    return torch.tensor([x], dtype=torch.float64).to(dtype).view(torch.int16).item() & 0xFFFF


def literal(x):
    (pattern,) = struct.unpack("<Q", struct.pack("<d", x))
    return f"0x{pattern:016x}"


def write(path):
    out = ["/* Written by generate.py dtypes: PyTorch's torch.promote_types and torch.can_cast, the sizes of elements, and doubles",
           " * (their bits) as float16 and bfloat16. */", "#include <stdint.h>", "", '#include "ltensor.h"', ""]
    table(out, "lt_dtype", "promoted", promoted)
    out += ["", "/* From the row's dtype to the column's. */"]
    table(out, "bool", "castable", lambda a, b: str(torch.can_cast(a, b)).lower())
    out += ["", "static const size_t bytes[LT_DTYPE_COUNT] = {" +
            ", ".join(f"[{name}] = {dtype.itemsize}" for name, dtype in DTYPES.items()) + "};"]
    out += ["", "static const struct {", "    uint64_t number;", "    uint16_t half, bfloat16;", "} stored[] = {"]
    out += [f"    {{{literal(x)}, 0x{bits(x, torch.float16):04x}, 0x{bits(x, torch.bfloat16):04x}}}, /* {x!r} */" for x in NUMBERS]
    out += ["};", ""]
    path.write_text("\n".join(out))
    return 2 * len(DTYPES) ** 2 + len(DTYPES) + len(NUMBERS)
