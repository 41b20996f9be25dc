"""Printed forms of tensors.

A row is a tensor {dtype=, shape=, data= or fill=, requires_grad=, expr=, parameter=, options=,
default_dtype=, printed=}. fill={n, scale, shift} stands for i * scale + shift (i from 0), for
tensors too long to list; expr names a function of the spec that is applied first.
"""

import torch

from . import lua
from .cases import DTYPES, FLOATS, INF, INTEGERS, NAN

EXPRESSIONS = {
    "add": lambda x: x + 1,
    "sub": lambda x: 1 - x,
    "mul": lambda x: x * 2,
    "div": lambda x: x / 2,
    "neg": lambda x: -x,
    "pow": lambda x: x**2,
    "exp": lambda x: x.exp(),
    "log": lambda x: (x * x + 1).log(),
    "sqrt": lambda x: (x * x).sqrt(),
    "abs": lambda x: x.abs(),
    "tanh": lambda x: x.tanh(),
    "sigmoid": lambda x: x.sigmoid(),
    "relu": lambda x: x.relu(),
    "clamp": lambda x: x.clamp(0, 1),
    "sum": lambda x: x.sum(),
    "sum_dim": lambda x: x.sum(0),
    "mean": lambda x: x.mean(),
    "max": lambda x: x.max(),
    "max_dim": lambda x: x.max(0)[0],
    "norm": lambda x: x.norm(),
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "mm": lambda x: x.mm(x.t()),
    "matmul_batched": lambda x: torch.stack([x, x]).matmul(x.t()),
    "addmm": lambda x: torch.addmm(x, x, x),
    "t": lambda x: x.t(),
    "transpose": lambda x: x.transpose(0, 1),
    "permute": lambda x: x.permute(1, 0),
    "view": lambda x: x.view(-1),
    "reshape": lambda x: x.t().reshape(-1),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.squeeze(),
    "expand": lambda x: x.expand(2, 2, 2),
    "cat": lambda x: torch.cat([x, x]),
    "stack": lambda x: torch.stack([x, x]),
    "select": lambda x: x[0],
    "slice": lambda x: x[:, 0:1],
    "index": lambda x: x[torch.tensor([1, 0])],
    "gather": lambda x: x.gather(0, torch.tensor([[0, 1]])),
    "index_select": lambda x: x.index_select(0, torch.tensor([1])),
    "masked_fill": lambda x: x.masked_fill(x > 0, 5),
    "where": lambda x: torch.where(x > 0, x, 0.0),
    "clone": lambda x: x.clone(),
    "double": lambda x: x.double(),
    "cross_entropy": lambda x: torch.nn.functional.cross_entropy(x, torch.tensor([0, 1])),
    "mse_loss": lambda x: torch.nn.functional.mse_loss(x, torch.zeros(2, 2)),
    "linear": lambda x: torch.nn.functional.linear(x, torch.ones(2, 2), torch.zeros(2)),
    "detach": lambda x: (x * 2).detach(),
}


class Printed:
    def __init__(self):
        self.rows = []

    def add(self, t, fill=None, requires_grad=False, expr=None, parameter=False, options=None, default_dtype=None):
        fields = [f"dtype='{lua.dtype_name(t.dtype)}'", f"shape={lua.items(t.shape)}"]
        fields.append("fill=" + lua.items(fill) if fill else "data=" + lua.flat(t))
        x = t.clone()
        if parameter:
            x = torch.nn.Parameter(x, requires_grad=requires_grad)
            fields.append("parameter=true")
        if requires_grad:
            x.requires_grad_()
            fields.append("requires_grad=true")
        if expr:
            fields.append(f"expr='{expr}'")
            x = EXPRESSIONS[expr](x)
        if options:
            spelled = ",".join(f"{k}={lua.string(v) if isinstance(v, str) else lua.number(v)}" for k, v in options.items())
            fields.append(f"options={{{spelled}}}")
        if default_dtype:
            fields.append(f"default_dtype='{lua.dtype_name(default_dtype)}'")
            torch.set_default_dtype(default_dtype)
        torch.set_printoptions(profile="default")
        torch.set_printoptions(sci_mode=None)
        if options:
            torch.set_printoptions(**options)
        text = repr(x)
        torch.set_printoptions(profile="default")
        torch.set_printoptions(sci_mode=None)
        torch.set_default_dtype(torch.float32)
        fields.append("printed=" + lua.string(text + "\n" if "\n" in text else text))
        self.rows.append("{" + ",".join(fields) + "}")

    def filled(self, dtype, shape, scale=1, shift=0, **extra):
        n = 1
        for size in shape:
            n *= size
        t = (torch.arange(n, dtype=torch.float64) * scale + shift).to(dtype).reshape(shape)
        self.add(t, fill=[n, scale, shift], **extra)


def small(p):
    for dtype in DTYPES:
        for data in (1, [1, 0, 1], [[0, 1], [1, 1]], [[[1], [0]], [[0], [1]]], [], [[], []]):
            p.add(torch.tensor(data, dtype=dtype))
        p.add(torch.ones(2, 1, 2, 2, dtype=dtype))
        p.add(torch.zeros(0, 3, dtype=dtype))
    for dtype in INTEGERS:
        top = torch.iinfo(dtype).max
        p.add(torch.tensor([0, 7, top, torch.iinfo(dtype).min], dtype=dtype))
        p.add(torch.tensor([[5, 100], [12, 3]], dtype=dtype))
        if dtype is not torch.uint8:
            p.add(torch.tensor([-1, 10, -100], dtype=dtype))
    p.add(torch.zeros(2, 0, 3))
    p.add(torch.zeros(0, 0, dtype=torch.int32))
    p.add(torch.tensor(True))
    p.add(torch.tensor([True, False, False, True]))


def floats(p):
    lists = [
        [1.0, 2.0, 3.0], [1.5, 2.0], [0.1, 0.2, 0.3], [-1.0, 1.0], [-0.0, 0.0], [1e-8], [1e8], [1e-8, 1e8], [1e-4, 1.0], [9.9e-5, 0.5], [1.0, 1000.0],
        [1.0, 1001.5], [0.001, 1.001], [99999999.0, 1.0], [1e8, 2e8], [123456.789], [1234567.0, 0.5], [NAN], [NAN, 1.0], [NAN, 1.5, -2.25], [INF, 1.0],
        [INF, -INF, NAN], [-INF, 0.5], [1e-40], [1e-45, 1.0], [3.4e38], [1e10], [1e10, 1e-10], [12345.0], [99999.0, -3.0], [100000.0], [0.99999, 0.999999],
        [9.99995], [0.00005, 0.1], [2.5, 3.5, 4.5], [1.00005, 1.00015], [0.0], [0.0, 0.0, 1e-5], [1e-5, 2e-5], [1e5, 1e6], [1e3, 1e-3], [65504.0, 0.1],
        [-123.456, 7.8], [1 / 3, 2 / 3], [1e7, 1.0], [16777216.0], [5e-324], [1e300], [1e-300, 1e300], [314159.26535], [-1e-8, 1e-8], [3.0, NAN, 1000.0],
    ]
    for data in lists:
        p.add(torch.tensor(data))
    for data in lists[::3]:
        p.add(torch.tensor(data, dtype=torch.float64))
    for data in lists[1::3]:
        p.add(torch.tensor(data, dtype=torch.float16))
    for data in lists[2::3]:
        p.add(torch.tensor(data, dtype=torch.bfloat16))
    for value in (3.14159, -2.0, 0.0, -0.0, 1e-10, 1e20, NAN, INF, -INF, 1e5, 123456.0, 0.1, 1e16):
        for dtype in (torch.float32, torch.float64):
            p.add(torch.tensor(value, dtype=dtype))
    for dtype in FLOATS:
        p.add(torch.tensor([[1.5, -2.0], [300.25, 0.0]], dtype=dtype))
        p.add(torch.randn(2, 3).to(dtype))
        p.add((torch.randn(3, 4) * 1000).to(dtype))
        p.add((torch.randn(2, 2, 2) * 1e-3).to(dtype))
        p.add((torch.randn(2, 2) * 1e-6).to(dtype))


def wide(p):
    for dtype in (torch.float32, torch.int64, torch.bool, torch.float16):
        p.filled(dtype, (30,), scale=1 if dtype is not torch.float32 else 0.25)
    p.filled(torch.int64, (100,))
    p.filled(torch.float32, (2, 20), scale=0.5, shift=-3)
    p.filled(torch.float64, (2, 3, 15), scale=0.125)
    p.filled(torch.int32, (2, 2, 2, 12), shift=-20)
    p.filled(torch.float32, (1, 11))
    p.filled(torch.float32, (12, 1))
    for n in (7, 8, 9, 10, 11, 12, 13):
        p.filled(torch.float32, (n,), scale=0.5)
        p.filled(torch.int64, (n + 5,))
    p.add(torch.tensor([1e-8, 1.0] * 8))
    p.add(torch.tensor([True, False] * 9))
    p.filled(torch.float32, (8,), scale=0.5, requires_grad=True)
    p.filled(torch.float64, (7,), scale=0.5, requires_grad=True)
    p.filled(torch.float64, (2, 12), scale=0.5, requires_grad=True)


def summarized(p):
    p.filled(torch.int64, (1001,))
    p.filled(torch.float32, (1000,))
    p.filled(torch.float32, (2000,), scale=0.5)
    p.filled(torch.float64, (1001,), scale=0.25, shift=-7)
    p.filled(torch.int64, (40, 50))
    p.filled(torch.float32, (6, 200), scale=0.5)
    p.filled(torch.float32, (7, 200), scale=0.5)
    p.filled(torch.float32, (200, 6), scale=0.125)
    p.filled(torch.float32, (2, 600))
    p.filled(torch.float32, (10, 10, 11), scale=0.5)
    p.filled(torch.float32, (3, 4, 5, 20))
    p.filled(torch.int32, (7, 8, 9, 3))
    p.filled(torch.float32, (1001, 1))
    p.filled(torch.bool, (1100,))
    p.filled(torch.uint8, (12, 100), scale=0.125)
    p.filled(torch.float16, (50, 40), scale=0.5)
    p.filled(torch.float32, (1200,), scale=1024.0, shift=0.5)
    p.filled(torch.float32, (1001,), scale=0.5, requires_grad=True)
    p.filled(torch.float32, (2, 501), requires_grad=True)
    p.filled(torch.bfloat16, (28, 28, 2))


def gradients(p):
    x = torch.tensor([[1.5, -2.0], [0.25, 3.0]])
    for dtype in FLOATS:
        p.add(x.to(dtype), requires_grad=True)
        p.add(x[0, 0].to(dtype), requires_grad=True)
    p.add(torch.zeros(0), requires_grad=True)
    p.add(torch.zeros(0, 2), requires_grad=True)
    for expr in EXPRESSIONS:
        p.add(x, requires_grad=True, expr=expr)
    p.add(torch.ones(2, 0), requires_grad=True, expr="sum_dim")
    p.add(x.double(), requires_grad=True, expr="mul")
    p.add(x, parameter=True, requires_grad=True)
    p.add(x[0], parameter=True, requires_grad=False)
    p.add(x.double(), parameter=True, requires_grad=True)


def options(p):
    data = torch.tensor([[3.14159265, -0.001], [1234.5678, 1e-3]])
    small_numbers = torch.tensor([1e-6, 2.5e-3, 0.125])
    for precision in (0, 1, 2, 8, 10):
        p.add(data, options={"precision": precision})
        p.add(small_numbers, options={"precision": precision})
    for sci_mode in (True, False):
        p.add(data, options={"sci_mode": sci_mode})
        p.add(small_numbers, options={"sci_mode": sci_mode})
        p.add(torch.tensor([1e-10, 1e10]), options={"sci_mode": sci_mode})
        p.add(torch.tensor([1.0, 2.0]), options={"sci_mode": sci_mode})
        p.add(torch.tensor(0.5), options={"sci_mode": sci_mode})
        p.add(torch.tensor([NAN, 1e-3]), options={"sci_mode": sci_mode, "precision": 2})
    for linewidth in (20, 40, 120):
        p.filled(torch.float32, (2, 20), scale=0.5, options={"linewidth": linewidth})
        p.filled(torch.int64, (30,), options={"linewidth": linewidth})
    for edgeitems in (1, 2, 5):
        p.filled(torch.int64, (40, 50), options={"edgeitems": edgeitems})
        p.filled(torch.float32, (1001,), options={"edgeitems": edgeitems, "precision": 2})
    p.filled(torch.int64, (30,), options={"threshold": 10})
    p.filled(torch.int64, (30,), options={"threshold": 30})
    p.filled(torch.float32, (5, 6, 7), scale=0.5, options={"threshold": 100, "edgeitems": 2})
    for profile in ("default", "short", "full"):
        p.filled(torch.float32, (33, 31), scale=0.25, shift=-9, options={"profile": profile})
        p.add(data, options={"profile": profile})
    for default in (torch.float64, torch.float16, torch.float32):
        for dtype in (torch.float32, torch.float64, torch.float16, torch.int64):
            p.add(torch.tensor([1, 2]).to(dtype), default_dtype=default)
    p.add(torch.zeros(0), default_dtype=torch.float64)


def write(path):
    p = Printed()
    for part in (small, floats, wide, summarized, gradients, options):
        part(p)
    return lua.write_file(path, "Printed forms of tensors.", p.rows)
