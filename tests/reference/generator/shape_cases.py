"""Ops that rearrange: views, joins, and the factories whose results are fixed."""

import torch

from .cases import DTYPES, NAN, Arg, Dim, Dims, Group, Pos, values


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def views(g):
    for dtype in DTYPES:
        x = values(dtype, 2, 3, 4)
        g.add("reshape", Arg(x), 4, 6, run=method("reshape"), via="m", exact=True)
        g.add("permute", Arg(x), Dim(2), Dim(0), Dim(1), run=method("permute"), via="m", exact=True)
        g.add("transpose", Arg(x), Dim(0), Dim(2), exact=True)
        g.add("narrow", Arg(x), Dim(2), Pos(1), 2, exact=True)
        g.add("select", Arg(x), Dim(1), Pos(2), exact=True)
    x = values(torch.float64, 2, 3, 4)
    gr = {"grad": True}
    for shape in ((24,), (-1,), (6, -1), (2, 1, 12), (1, 2, 3, 4)):
        g.add("reshape", Arg(x, **gr), *shape, run=method("reshape"), via="m", exact=True)
        g.add("reshape", Arg(x, "transpose", **gr), list(shape), exact=True)
        g.add("view", Arg(x, **gr), *shape, run=method("view"), via="m", exact=True)
    g.add("reshape", Arg(torch.ones(0, 3)), 3, 0, run=method("reshape"), via="m")
    g.add("reshape", Arg(torch.tensor(3.0)), 1, 1, run=method("reshape"), via="m")
    g.add("reshape", Arg(torch.ones(1)), [], run=method("reshape"), via="m")
    for dims in ((0, 1, 2), (2, 1, 0), (1, 0, 2), (-1, 0, 1)):
        g.add("permute", Arg(x, **gr), Dims(*dims), exact=True)
    for a, b in ((0, 1), (-1, -2), (1, 1), (0, -1)):
        g.add("transpose", Arg(x, **gr), Dim(a), Dim(b), exact=True)
    g.add("transpose", Arg(x, "step"), Dim(0), Dim(2), exact=True)
    g.add("t", Arg(values(torch.float32, 2, 3), **gr), exact=True)
    g.add("t", Arg(values(torch.float32, 3)), exact=True)
    for dim, start, length in ((0, 0, 1), (1, 1, 2), (-1, 2, 2), (2, 0, 4), (1, 3, 0)):
        g.add("narrow", Arg(x, **gr), Dim(dim), Pos(start), length, exact=True)
    g.add("narrow", Arg(x), Dim(2), Pos(-2), 2, exact=True)
    for dim, i in ((0, 0), (1, 2), (-1, -1), (2, 3), (0, -2)):
        g.add("select", Arg(x, **gr), Dim(dim), Pos(i), exact=True)
    for shape, to in (((3, 1), (3, 4)), ((1,), (2, 3)), ((), (2, 2)), ((2, 1, 3), (-1, 4, -1)), ((3,), (0, 3)), ((1, 3), (5, -1, 3))):
        g.add("expand", Arg(values(torch.float64, *shape), **gr), *to, run=method("expand"), via="m", exact=True)
    for dim in (0, 1, -1, 3):
        g.add("unsqueeze", Arg(x, **gr), Dim(dim), exact=True)
    g.add("unsqueeze", Arg(torch.tensor(2.0)), Dim(0), exact=True)
    y = values(torch.float32, 1, 3, 1, 2)
    g.add("squeeze", Arg(y, **gr), exact=True)
    for dim in (0, 1, 2, -2):
        g.add("squeeze", Arg(y, **gr), Dim(dim), exact=True)
    g.add("squeeze", Arg(torch.ones(1, 1)), exact=True)
    g.add("flatten", Arg(x, **gr), exact=True)
    g.add("flatten", Arg(x, **gr), Dim(1), exact=True)
    g.add("flatten", Arg(x, "transpose"), start_dim=Dim(0), end_dim=Dim(1), exact=True)
    g.add("flatten", Arg(torch.tensor(2.0)), exact=True)
    for layout in (None, "transpose", "step", "offset", "expand"):
        g.add("clone", Arg(x, layout, **gr), exact=True)
        for memory_format in ("preserve_format", "contiguous_format"):
            g.add("clone", Arg(x, layout, **gr), memory_format=memory_format, exact=True,
                  run=lambda t, memory_format: t.clone(memory_format=getattr(torch, memory_format)))
        g.add("contiguous", Arg(x, layout), run=method("contiguous"), via="m", exact=True)
    image = values(torch.float64, 2, 3, 2, 2)
    for name in ("clone", "contiguous", "to"):
        for layout in (None, "transpose", "step"):
            for memory_format in ("channels_last", "contiguous_format"):
                g.add(name, Arg(image, layout, **gr), memory_format=memory_format, via="m", exact=True,
                      run=lambda t, memory_format, name=name: getattr(t, name)(memory_format=getattr(torch, memory_format)))
    g.add("clone", Arg(values(torch.float64, 1, 2, 2, 2, 2)), memory_format="channels_last_3d", via="m", exact=True,
          run=lambda t, memory_format: t.clone(memory_format=torch.channels_last_3d))


def joins(g):
    for dtype in DTYPES:
        parts = [Arg(values(dtype, 2, 3)), Arg(values(dtype, 1, 3))]
        g.add("cat", parts, via="f", exact=True)
        g.add("stack", [Arg(values(dtype, 2)), Arg(values(dtype, 2))], Dim(1), via="f", exact=True)
    x, y, z = (values(torch.float64, 2, n, 2) for n in (1, 3, 2))
    parts = [Arg(x, grad=True), Arg(y, grad=True), Arg(z, grad=True)]
    g.add("cat", parts, Dim(1), via="f", exact=True)
    g.add("cat", parts, dim=Dim(-2), via="f", exact=True)
    g.add("cat", [Arg(z, "transpose", grad=True), Arg(z, grad=True)], Dim(-1), via="f", exact=True)
    g.add("cat", [Arg(values(torch.float32, 2, 6), "step"), Arg(torch.ones(0, 3)), Arg(values(torch.float32, 1, 3))], Dim(0), via="f", exact=True)
    g.add("cat", [Arg(torch.ones(0)), Arg(torch.ones(2, 3))], Dim(0), via="f")
    g.add("cat", [Arg(torch.ones(2).long()), Arg(torch.ones(2).half())], via="f")
    g.add("cat", [Arg(torch.ones(2).bool()), Arg(torch.ones(1).to(torch.uint8))], Dim(0), via="f")
    for dim in (0, 1, 2, -1):
        g.add("stack", [Arg(values(torch.float64, 2, 3), grad=True), Arg(values(torch.float64, 2, 3), grad=True)], Dim(dim), via="f", exact=True)
    g.add("stack", [Arg(torch.tensor(1.0)), Arg(torch.tensor(2.0))], via="f")
    g.add("stack", [Arg(values(torch.float32, 2, 3), "transpose"), Arg(values(torch.float32, 3, 2))], via="f", exact=True)


def factories(g):
    for dtype in (torch.float32, torch.float64, torch.int64):
        g.add("arange", 0, 5, dtype=dtype, via="f", exact=True)
        g.add("zeros", 2, 3, dtype=dtype, via="f", exact=True)
        g.add("ones", [2, 3], dtype=dtype, via="f", exact=True)
        g.add("eye", 3, dtype=dtype, via="f", exact=True)
        g.add("full", [2, 2], 7, dtype=dtype, via="f", exact=True)
    g.add("arange", 5, via="f", exact=True)
    g.add("arange", 1, 10, 3, via="f", exact=True)
    g.add("arange", 5, 0, -2, via="f", exact=True)
    g.add("arange", 0.0, 1.0, 0.25, via="f", exact=True)
    g.add("arange", 0, 1, 0.1, via="f")
    g.add("arange", 3.0, via="f", exact=True)
    g.add("arange", 0, via="f", exact=True)
    g.add("linspace", 0, 1, 5, via="f")
    g.add("linspace", -3, 10, 11, dtype=torch.float64, via="f")
    g.add("linspace", 2.0, 2.0, 1, via="f")
    g.add("linspace", 0, 10, 4, dtype=torch.int64, via="f")
    g.add("eye", 2, 4, via="f", exact=True)
    g.add("full", [2], 3, via="f", exact=True)
    g.add("full", [2], 3.5, via="f", exact=True)
    g.add("full", [2], True, via="f", exact=True)
    for dtype in DTYPES:
        g.add("zeros_like", Arg(values(dtype, 2, 2)), via="f", exact=True)
        g.add("ones_like", Arg(values(dtype, 2, 2)), via="f", exact=True)
    g.add("full_like", Arg(values(torch.float32, 2, 2)), 4, via="f", exact=True)
    g.add("zeros_like", Arg(values(torch.float32, 2, 3), "transpose"), dtype=torch.int32, via="f", exact=True)


def errors(g):
    g.fails("reshape", Arg(torch.ones(2, 3)), [4], message="shape '[4]' is invalid for input of size 6")
    g.fails("view", Arg(torch.ones(2, 3), "transpose"), 6, run=method("view"), via="m",
            message="view size is not compatible with input tensor's size and stride")
    g.fails("reshape", Arg(torch.ones(2, 3)), [-1, -1], message="only one dimension can be inferred")
    g.fails("reshape", Arg(torch.ones(2, 3)), [-1, 4], message="shape '[-1, 4]' is invalid for input of size 6")
    g.fails("expand", Arg(torch.ones(2, 3)), 2, 4, run=method("expand"), via="m", message="The expanded size of the tensor (4) must match the existing size (3) at non-singleton dimension")
    g.fails("cat", [Arg(torch.ones(2, 3)), Arg(torch.ones(2, 4))], via="f", message="Sizes of tensors must match except in dimension")
    g.fails("stack", [Arg(torch.ones(2)), Arg(torch.ones(3))], via="f", message="stack expects each tensor to be equal size, but got [2] at entry")
    g.fails("t", Arg(torch.ones(2, 2, 2)), message="expects a tensor with <= 2 dimensions, but self is 3D")
    g.fails("transpose", Arg(torch.ones(2, 3)), Dim(0), Dim(-5), message="Dimension out of range")
    g.fails("permute", Arg(torch.ones(2, 3)), Dims(0, 0), message="permute(): duplicate dims are not allowed.")


def write(path):
    g = Group()
    for part in (views, joins, factories, errors):
        part(g)
    return g.write(path, "Views, joins and factories.")
