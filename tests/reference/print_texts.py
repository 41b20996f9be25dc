"""Writes tests/core/print_texts.inc, what PyTorch prints of tensors: rows for tests/core/print_test.c.

    python tests/reference/print_texts.py

Needs PyTorch 2.13 on the CPU. A row is a tensor, of listed numbers or of i * scale + shift (i from 0), the options that it is
printed with, and the text.
"""

import math
import pathlib

import torch

DEFAULTS = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
NAMES = {torch.bool: "BOOL", torch.uint8: "UINT8", torch.int8: "INT8", torch.int16: "INT16", torch.int32: "INT32", torch.int64: "INT64",
         torch.float16: "FLOAT16", torch.bfloat16: "BFLOAT16", torch.float32: "FLOAT32", torch.float64: "FLOAT64"}
NAN, INF = math.nan, math.inf
rows = []


def quoted(text):
    lines = text.split("\n")
    return "\n             ".join('"' + line.replace('"', '\\"') + ("\\n" if i < len(lines) - 1 else "") + '"' for i, line in enumerate(lines))


def number(x):
    x = float(x)
    return "NAN" if math.isnan(x) else ("-" if x < 0 else "") + "INFINITY" if math.isinf(x) else repr(x)


def add(t, source, options):
    chosen = {**DEFAULTS, **options}
    torch.set_printoptions(**chosen)
    sci_mode = -1 if chosen["sci_mode"] is None else int(chosen["sci_mode"])
    sizes = ", ".join(map(str, t.shape)) or "0"
    rows.append(f"    {{LT_{NAMES[t.dtype]}, {t.dim()}, {{{sizes}}}, {source},\n     .options = {{{chosen['precision']}, {chosen['threshold']}, "
                f"{chosen['edgeitems']}, {chosen['linewidth']}, {sci_mode}}},\n     .text = {quoted(repr(t))}}},")


def listed(data, dtype=torch.float32, **options):
    t = torch.tensor(data, dtype=dtype)
    numbers = ", ".join(number(x) for x in t.double().flatten())
    add(t, f".numbers = {{{numbers}}}" if t.numel() > 0 else ".numbers = {0}", options)


def ramp(dtype, shape, scale=1.0, shift=0.0, **options):
    t = (torch.arange(math.prod(shape), dtype=torch.float64) * scale + shift).to(dtype).reshape(shape)
    add(t, f".scale = {number(scale)}, .shift = {number(shift)}", options)


def comment(text):
    rows.append(f"    /* {text} */")


comment("widths: the longest element decides, nan and infinities do not")
listed([[5, 100], [-12, 3]], torch.int64)
listed([-128, 0, 127], torch.int8)
listed([True, False], torch.bool)
listed([True, True], torch.bool)
listed([-1.5, 22.25])
listed([1, 22, 333])
listed([-0.0, 0.0])
listed([NAN, 1, 2])
listed([INF, -INF, NAN])
listed([INF, -INF, 0.5, NAN])
listed([[NAN, NAN], [NAN, 100000]])
listed(3.14159)
listed(7, torch.int32)
listed([1.5, 65504], torch.float16)
listed([1 / 3, 3e38], torch.bfloat16)

comment("digits: rounded to the precision")
for precision in (0, 1, 10):
    listed([0.5, 1.5, 2.25, 1 / 3], precision=precision)
listed([0.99995, 9.99996])
listed([0.125, 0.375], precision=2)
listed([1 / 3], torch.float64, precision=20)
listed([2, 3], precision=0)

comment("scientific notation: above 1e8, below 1e-4, or more than 1000 between the smallest and the largest")
listed([1e8])
listed([1.5, 1e8])
listed([100000008])
listed([1e-4])
listed([1e-4], torch.float64)
listed([9.9e-5])
listed([1, 1000])
listed([1, 1001])
listed([1, 5e-4])
listed([0, 1e-3, 1])
listed([0.00099, 1])
listed([NAN, 1e10, -INF, 0])
listed([1e-300, 1], torch.float64)
listed([1e-45])
listed([1e-5, 1], sci_mode=False)
listed([1e20, 0.5], torch.float64, sci_mode=False)
listed([1e10, 2e10], torch.float64, sci_mode=False)
listed([1, 0.5, NAN, 0], sci_mode=True)
listed([1, 0], sci_mode=True, precision=0)

comment("lines: as many elements as there is room for, one at least")
ramp(torch.int64, (30,))
ramp(torch.float32, (2, 12), 0.25, -1)
ramp(torch.int64, (12,), linewidth=20)
ramp(torch.float32, (5,), linewidth=1)
ramp(torch.int16, (2, 2, 2), linewidth=10)
ramp(torch.float64, (8,), 0.5)
ramp(torch.float64, (7,), 0.5)
ramp(torch.int32, (2, 1, 2, 2))
for columns in range(33, 41):
    ramp(torch.int32, (3,), linewidth=columns)
    ramp(torch.int32, (2, 3), linewidth=columns)

comment("summaries: of every long dimension its ends, when there are more elements than the threshold")
ramp(torch.int64, (1000,), linewidth=200)
ramp(torch.int64, (1001,))
ramp(torch.float32, (2000,), 0.5, -3)
ramp(torch.float32, (7, 200), 0.5)
ramp(torch.float32, (6, 200), 0.5)
ramp(torch.int32, (200, 7))
ramp(torch.int64, (11, 10, 11))
ramp(torch.float64, (1001,), 1024, 0.5)
ramp(torch.int64, (20, 20), threshold=399, edgeitems=1)
ramp(torch.int64, (5,), threshold=4, edgeitems=1)
ramp(torch.int64, (5,), threshold=5, edgeitems=1)
ramp(torch.int64, (5,), threshold=0, edgeitems=2)
ramp(torch.int64, (4,), threshold=0, edgeitems=2)
ramp(torch.bool, (3, 400))
ramp(torch.int64, (5,), threshold=0, edgeitems=0)
ramp(torch.float64, (2, 2), threshold=0, edgeitems=0)

comment("nothing to show")
for dtype in (torch.float32, torch.int64, torch.bool):
    listed([], dtype)
    ramp(dtype, (2, 0))
ramp(torch.float32, (0, 3))
ramp(torch.float64, (3, 0, 2))

path = pathlib.Path(__file__).resolve().parent.parent / "core" / "print_texts.inc"
path.write_text("/* print_texts.inc - rows of print_test.c. Written by tests/reference/print_texts.py from PyTorch "
                f"{torch.__version__.split('+')[0]}; do not edit. */\n" + "\n".join(rows) + "\n")
print(f"{path.name}: {sum(row.startswith('    {') for row in rows)} rows")
