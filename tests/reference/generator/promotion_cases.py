"""The dtypes of results: torch.promote_types, torch.can_cast, torch.result_type, and what binary ops, their in-place forms and cat give for
every pair of operands: tensors, 0-dim tensors and numbers of every dtype.

A table is {name=, rows={...}}: a string for each first operand, a letter for each second one: the dtype of the result, '.' for
success where there is none to tell, '!' for an error, '?' where PyTorch has no kernel or no such call. Operands stand in the order of
`operands`: tensors of the dtypes of `dtypes`, 0-dim tensors of these, numbers.
"""

import operator

import torch

from . import lua

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64, torch.float16,
          torch.bfloat16, torch.float32, torch.float64, torch.complex32, torch.complex64, torch.complex128]
LETTERS = dict(zip(DTYPES, "abcdefghijklmnop"))
NUMBERS = [True, 2, 1.5, 1 + 2j]


def one(dtype, size):
    return torch.ones(size, dtype=torch.float32).to(dtype)


def operands():
    return [lambda d=d: one(d, [2]) for d in DTYPES] + [lambda d=d: one(d, []) for d in DTYPES] + [lambda n=n: n for n in NUMBERS]


OPERATORS = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "floor_divide": operator.floordiv,
             "remainder": operator.mod, "pow": operator.pow, "bitwise_and": operator.and_, "bitwise_or": operator.or_,
             "bitwise_xor": operator.xor}
FUNCTIONS = ["rsub", "fmod", "float_power", "maximum", "minimum", "fmax", "fmin", "atan2", "copysign", "hypot", "nextafter", "logaddexp",
             "logaddexp2", "xlogy", "heaviside", "ldexp", "gcd", "lcm", "bitwise_left_shift", "bitwise_right_shift", "eq", "ne", "lt", "le",
             "gt", "ge", "logical_and", "logical_or", "logical_xor", "true_divide"]
IN_PLACE = ["add_", "sub_", "mul_", "div_", "floor_divide_", "remainder_", "fmod_", "pow_", "float_power_", "atan2_", "copysign_", "hypot_",
            "xlogy_", "ldexp_", "gcd_", "bitwise_and_", "bitwise_left_shift_", "eq_", "lt_", "logical_and_", "copy_"]
CALLS = {
    **{name: OPERATORS[name] for name in OPERATORS},
    **{name: (lambda a, b, name=name: getattr(torch, name)(a, b)) for name in FUNCTIONS},
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "where": lambda a, b: torch.where(torch.tensor([True, False]), a, b),
    "cat": lambda a, b: torch.cat([a, b]),
    "lerp": lambda a, b: torch.lerp(a, b, 0.5),
    "addcmul": lambda a, b: torch.addcmul(a, b, b),
    "result_type": lambda a, b: torch.result_type(a, b),
    **{name: (lambda a, b, name=name: getattr(a, name)(b)) for name in IN_PLACE},
}


def outcome(call, a, b):
    try:
        result = call(a, b)
    except (NotImplementedError, TypeError, AttributeError):
        return "?"
    except RuntimeError as error:
        return "?" if "not implemented for" in str(error) or "not supported for" in str(error) and "Half" in str(error) else "!"
    if isinstance(result, torch.dtype):
        return LETTERS[result]
    return LETTERS[result.dtype] if isinstance(result, torch.Tensor) else "."


def table(name, firsts, seconds, call):
    rows = ["".join(outcome(call, a(), b()) for b in seconds) for a in firsts]
    return f"{{name={lua.string(name)},rows={{\n" + ",\n".join(lua.string(row) for row in rows) + "}}", len(rows) * len(rows[0])


def with_tensor(call, a, b):
    if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor):
        raise TypeError("two numbers")
    return call(a, b)


def write(path):
    pairs = [(lambda d=d: d) for d in DTYPES]
    everything = operands()
    tables = [table("promote_types", pairs, pairs, torch.promote_types),
              table("can_cast", pairs, pairs, lambda a, b: torch.bool if torch.can_cast(a, b) else torch.uint8)]
    for name, call in CALLS.items():
        firsts = everything[:len(DTYPES) * 2] if name in IN_PLACE else everything
        tables.append(table(name, firsts, everything, lambda a, b, call=call: with_tensor(call, a, b)))
    names = ",".join(lua.string(lua.dtype_name(d)) for d in DTYPES)
    text = "-- Dtypes of results, by PyTorch; generator/promotion_cases.py says how they are written.\n"
    text += f"-- Written by generate.py from PyTorch {torch.__version__.split('+')[0]}; do not edit.\n"
    text += "return {\n{dtypes={" + names + "},letters=" + lua.string("".join(LETTERS[d] for d in DTYPES)) + "},\n"
    text += ",\n".join(t for t, _ in tables) + "}\n"
    path.write_text(text)
    return sum(count for _, count in tables)
