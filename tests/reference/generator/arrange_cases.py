"""Diagonals, grids, padding, lists of parts, positions, and what else is made of views and joins."""

import torch
import torch.nn.functional as F

from .cases import DTYPES, NAN, Arg, Dim, Dims, Group, Idx, Pos, values

GRAD = {"grad": True}


def method(name):
    return lambda t, *rest, **named: getattr(t, name)(*rest, **named)


def each(dtypes=DTYPES):
    return [torch.float64, torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool] if dtypes is DTYPES else dtypes


class Cuts(Dims):
    """Positions before which to cut."""


def parts(g):
    for dtype in each():
        x = values(dtype, 5, 4)
        for n in (1, 2, 3, 7):
            g.add("tensor_split", Arg(x), n, exact=True)
        g.add("tensor_split", Arg(x, "transpose"), 3, Dim(1), exact=True)
        g.add("tensor_split", Arg(x), Cuts(1, 3), exact=True)
        g.add("tensor_split", Arg(x), Cuts(2), dim=Dim(-1), exact=True)
        g.add("tensor_split", Arg(x), Cuts(3, 1, 9), exact=True)
    g.add("tensor_split", Arg(torch.ones(0, 3)), 2, exact=True)
    for shapes in (((3,), (2, 1)), ((1,), (2, 3)), ((), (2,)), ((2, 1, 3), (4, 1), (1,))):
        g.add("broadcast_tensors", [Arg(values(torch.float64, *s), grad=i == 0) for i, s in enumerate(shapes)], via="f", exact=True,
              run=lambda ts: torch.broadcast_tensors(*ts))
    for shapes in (((3,), (2,)), ((3,), (2,), (4,)), ((), (2,)), ((2,),)):
        for indexing in ("ij", "xy"):
            for dtype in each():
                g.add("meshgrid", [Arg(values(dtype, *s)) for s in shapes], indexing=indexing, via="f", exact=True,
                      run=lambda ts, indexing: torch.meshgrid(*ts, indexing=indexing))
    g.add("meshgrid", [Arg(values(torch.float64, 2), **GRAD), Arg(values(torch.float64, 3))], indexing="ij", via="f",
          run=lambda ts, indexing: torch.meshgrid(*ts, indexing=indexing))
    for dtype in each():
        g.add("cartesian_prod", [Arg(values(dtype, 2)), Arg(values(dtype, 3))], via="f", exact=True,
              run=lambda ts: torch.cartesian_prod(*ts))
        g.add("combinations", Arg(values(dtype, 4)), via="f", exact=True)
        g.add("dstack", [Arg(values(dtype, 2, 3)), Arg(values(dtype, 2, 3))], via="f", exact=True)
        g.add("hstack", [Arg(values(dtype, 2, 3)), Arg(values(dtype, 2, 1))], via="f", exact=True)
        g.add("vstack", [Arg(values(dtype, 2, 3)), Arg(values(dtype, 3))], via="f", exact=True)
        g.add("block_diag", [Arg(values(dtype, 2, 3)), Arg(values(dtype, 2)), Arg(values(dtype, 1, 1))], via="f", exact=True,
              run=lambda ts: torch.block_diag(*ts))
    g.add("cartesian_prod", [Arg(values(torch.float64, 2), **GRAD)] + [Arg(values(torch.float64, 3), **GRAD), Arg(values(torch.float64, 2), **GRAD)], via="f", exact=True,
          run=lambda ts: torch.cartesian_prod(*ts))
    for r in (0, 1, 2, 3, 5):
        g.add("combinations", Arg(values(torch.float64, 4), **GRAD), r, via="f", exact=True)
        g.add("combinations", Arg(values(torch.float64, 3)), r=r, with_replacement=True, via="f", exact=True)
    for shape in ((2,), (2, 3), (2, 3, 2), ()):
        g.add("dstack", [Arg(values(torch.float64, *shape), **GRAD), Arg(values(torch.float64, *shape), **GRAD)], via="f", exact=True)


def diagonals(g):
    for dtype in each():
        g.add("diag", Arg(values(dtype, 3)), exact=True)
        g.add("diag", Arg(values(dtype, 3, 4)), exact=True)
        g.add("diag_embed", Arg(values(dtype, 2, 3)), exact=True)
        g.add("diagflat", Arg(values(dtype, 2, 2)), exact=True)
        for k in (-1, 0, 1, 2, 3, -3):
            g.add("rot90", Arg(values(dtype, 2, 3)), k, exact=True)
        for op in ("tril", "triu"):
            for k in (-2, -1, 0, 1, 3):
                g.add(op, Arg(values(dtype, 3, 4)), k, exact=True)
    x = values(torch.float64, 2, 3, 4)
    for k in (-5, -1, 0, 1, 2, 5):
        g.add("diag", Arg(values(torch.float64, 3), **GRAD), k, exact=True)
        g.add("diag", Arg(values(torch.float64, 4, 3), "transpose", **GRAD), k, exact=True)
        g.add("diagflat", Arg(values(torch.float64, 2, 2), **GRAD), k, exact=True)
        g.add("diag_embed", Arg(x, **GRAD), k, exact=True)
        g.add("diagonal", Arg(x, **GRAD), k, exact=True)
        g.add("diagonal", Arg(x), k, Dim(2), Dim(0), exact=True)
    g.add("diag_embed", Arg(x, **GRAD), offset=1, dim1=Dim(0), dim2=Dim(2), exact=True)
    g.add("diag_embed", Arg(x, "transpose"), dim1=Dim(1), dim2=Dim(-1), exact=True)
    g.add("diag", Arg(torch.ones(0)), exact=True)
    g.add("diag_embed", Arg(torch.ones(2, 0)), exact=True)
    for k in (1, 2, 3):
        g.add("rot90", Arg(x, **GRAD), k, Dims(1, 2), exact=True)
        g.add("rot90", Arg(x, "step"), k, Dims(2, 0), exact=True)
    for op in ("tril_indices", "triu_indices"):
        for rows, columns in ((3, 3), (2, 4), (4, 2), (0, 3)):
            for k in (-1, 0, 1, 6):
                g.add(op, rows, columns, k, index_out=(0,), via="f", exact=True)


def moves(g):
    x = values(torch.float64, 2, 3, 4)
    for dtype in each():
        g.add("movedim", Arg(values(dtype, 2, 3, 4)), Dim(0), Dim(2), exact=True)
        g.add("flip", Arg(values(dtype, 3, 4)), Dims(0, 1), exact=True)
        g.add("roll", Arg(values(dtype, 3, 4)), 1, Dim(1), exact=True)
        g.add("repeat_interleave", Arg(values(dtype, 3, 2)), 2, Dim(1), exact=True)
        g.add("tile", Arg(values(dtype, 3, 2)), [2, 2], exact=True)
    g.add("movedim", Arg(x, **GRAD), Dims(0, 1), Dims(1, 2), exact=True)
    g.add("movedim", Arg(x, **GRAD), Dims(-1), Dims(0), exact=True)
    g.add("moveaxis", Arg(x, **GRAD), Dims(2, 0), Dims(0, 1), exact=True)
    g.add("swapaxes", Arg(x, **GRAD), Dim(0), Dim(-1), exact=True)
    g.add("swapdims", Arg(x), Dim(0), Dim(1), exact=True)
    for dim, sizes in ((2, [2, 2]), (-1, [-1, 2]), (1, [3, 1]), (0, [2])):
        g.add("unflatten", Arg(x, **GRAD), Dim(dim), sizes, exact=True)
    for dim, size, step in ((0, 1, 1), (2, 2, 1), (2, 3, 1), (1, 2, 2), (-1, 2, 2)):
        g.add("unfold", Arg(x, **GRAD), Dim(dim), size, step, run=method("unfold"), via="m", exact=True)
    for shifts, dims in (([1], Dims(0)), ([-1, 2], Dims(0, 2)), ([5], Dims(1))):
        g.add("roll", Arg(x, **GRAD), shifts, dims, exact=True)
    g.add("roll", Arg(x), 3, exact=True)
    for dims in ((0,), (1, 2), (0, 1, 2)):
        g.add("flip", Arg(x, **GRAD), Dims(*dims), exact=True)
    g.add("tile", Arg(x, **GRAD), [2], exact=True)
    g.add("tile", Arg(x), [2, 1, 1, 2], exact=True)
    g.add("repeat_interleave", Arg(x, **GRAD), 2, exact=True)
    g.add("repeat_interleave", Arg(x, **GRAD), 3, dim=Dim(1), exact=True)
    g.add("broadcast_to", Arg(values(torch.float64, 3, 1), **GRAD), [2, 3, 4], exact=True)


def padding(g):
    for dtype in each():
        if dtype is torch.bool:
            continue
        g.add("pad", Arg(values(dtype, 2, 3)), [1, 2], run=F.pad, via="F", exact=True)
        g.add("pad", Arg(values(dtype, 2, 3)), [1, 2, 0, 1], "constant", 3, run=F.pad, via="F", exact=True)
        g.add("pad", Arg(values(dtype, 1, 2, 4)), [2, 1], "replicate", run=F.pad, via="F", exact=True)
        g.add("pad", Arg(values(dtype, 1, 2, 4)), [2, 1], "circular", run=F.pad, via="F", exact=True)
        g.add("pad", Arg(values(dtype, 1, 2, 4)), [2, 1], "reflect", run=F.pad, via="F", exact=True)
        g.add("constant_pad_nd", Arg(values(dtype, 2, 2)), [1, 0], 2, via="f", exact=True)
    x = values(torch.float64, 2, 3, 4)
    y = values(torch.float64, 1, 2, 3, 4)
    for pad in ([1, 1], [0, 2, 1, 0], [-1, 2], [-1, -1, 1, -1], [1, 0, 0, 1, 2, 0], []):
        g.add("pad", Arg(x, **GRAD), pad, run=F.pad, via="F", exact=True)
        g.add("pad", Arg(x, "transpose"), pad, value=-1.5, run=F.pad, via="F", exact=True)
    for mode in ("reflect", "replicate", "circular"):
        g.add("pad", Arg(x, **GRAD), [1, 2], mode, run=F.pad, via="F")
        g.add("pad", Arg(y, **GRAD), [1, 2, 1, 1], mode=mode, run=F.pad, via="F")
        g.add("pad", Arg(y, "step"), [1, 0, 0, 2], mode=mode, run=F.pad, via="F", exact=True)


def factories(g):
    for args in ((0, 2, 5), (0, 3, 4, 2.0), (-1, 1, 1), (0.5, 1.5, 3, 3), (0, 1, 0)):
        g.add("logspace", *args, via="f")
    g.add("logspace", 0, 3, 4, dtype=torch.float64, via="f")


def errors(g):
    g.fails("diag", Arg(torch.ones(2, 2, 2)), message="diag(): Supports 1D or 2D tensors. Got 3D")
    g.fails("rot90", Arg(torch.ones(3)), message="expected total dims >= 2, but got total dims = 1")
    g.fails("tensor_split", Arg(torch.ones(3)), 0, message="number of sections must be larger than 0, got 0")
    g.fails("meshgrid", [Arg(torch.ones(2, 2))], indexing="ij", via="f", run=lambda ts, indexing: torch.meshgrid(*ts, indexing=indexing),
            message="torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ")
    g.fails("meshgrid", [Arg(torch.ones(2))], indexing="ab", via="f", run=lambda ts, indexing: torch.meshgrid(*ts, indexing=indexing),
            message='torch.meshgrid: indexing must be one of "xy" or "ij", but received: ab')
    g.fails("combinations", Arg(torch.ones(2, 2)), via="f", message="Expect a 1D vector, but got shape [2, 2]")
    g.fails("combinations", Arg(torch.ones(2)), -1, via="f", message="Expect a non-negative number, but got -1")
    g.fails("pad", Arg(torch.ones(2, 3)), [1], run=F.pad, via="F", message="must be ")
    g.fails("pad", Arg(torch.ones(1, 2, 3)), [3, 1], "reflect", run=F.pad, via="F",
            message="Padding size should be less than the corresponding input dimension, but got: padding (3, 1) at dimension")
    g.fails("pad", Arg(torch.ones(1, 2, 3)), [4, 0], "circular", run=F.pad, via="F",
            message="Padding value causes wrapping around more than once.")
    g.fails("pad", Arg(torch.ones(1, 2, 3)), [1, 1], "nothing", run=F.pad, via="F", message="Unrecognised padding mode nothing")
    g.fails("movedim", Arg(torch.ones(2, 3)), Dims(0, 1), Dims(0), message="movedim: Invalid source or destination dims: source")
    g.fails("diag_embed", Arg(torch.ones(2, 3)), dim1=Dim(0), dim2=Dim(0), message="diagonal dimensions cannot be identical")


def write(path):
    g = Group()
    for part in (parts, diagonals, moves, padding, factories, errors):
        part(g)
    return g.write(path, "Diagonals, grids, padding, parts and positions.")
