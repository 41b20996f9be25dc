"""Spelling Python and PyTorch values as Lua source.

Floats are written with as many digits as their dtype needs to be read back exactly; int64 exactly;
nan and the infinities as 0/0, 1/0, -1/0; negative zero as -0.0 (Lua's -0 is the integer 0). Complex
elements are two numbers each, the real part first.
"""

import math

import torch

DIGITS = {torch.float16: 6, torch.bfloat16: 5, torch.float32: 9, torch.float64: 17,
          torch.complex64: 9, torch.complex128: 17}
LONG_MIN = -(2**63)


def dtype_name(dtype):
    return str(dtype).removeprefix("torch.")


def number(value, digits=17):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, complex):
        return "{complex={" + number(value.real) + "," + number(value.imag) + "}}"
    if isinstance(value, int):
        return "0x8000000000000000" if value == LONG_MIN else str(value)
    if math.isnan(value):
        return "0/0"
    if math.isinf(value):
        return "1/0" if value > 0 else "-1/0"
    shortest = repr(value) if digits == 17 else f"{value:.{digits}g}"
    if not any(c in shortest for c in ".en"):
        shortest += ".0"
    return shortest


def string(text):
    if "\n" in text:
        return "[==[\n" + text + "]==]"
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def items(values):
    return "{" + ",".join(str(v) for v in values) + "}"


def flat(tensor):
    """The elements of a tensor in row-major order, as a Lua list."""
    digits = DIGITS.get(tensor.dtype, 17)
    if tensor._is_zerotensor():  # PyTorch has tensors of zeros without memory
        tensor = torch.zeros(tensor.shape, dtype=tensor.dtype)
    parts = torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor.detach()
    values = parts.reshape(-1).tolist()
    return items(number(v, digits) for v in values)


def tensor(t, **extra):
    """{dtype=, shape=, data=} and the extra fields, already spelled as Lua."""
    fields = [f"dtype='{dtype_name(t.dtype)}'", f"shape={items(t.shape)}", f"data={flat(t)}"]
    fields += [f"{key}={text}" for key, text in extra.items()]
    return "{" + ",".join(fields) + "}"


def write_file(path, comment, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"-- {comment}\n-- Written by generate.py from PyTorch {torch.__version__.split('+')[0]}; do not edit.\n")
        out.write("return {\n")
        for row in rows:
            out.write(row + ",\n")
        out.write("}\n")
    return len(rows)
