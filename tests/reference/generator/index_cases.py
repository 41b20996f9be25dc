"""Indexing and assignment in all their forms, gather and scatter, masks, where, nonzero.

A subscript is spelled as a list of entries, which the spec turns into Lua's: a position {at=},
a slice {from=, to=, step=} (first and last included, from 1), {all=true}, {newaxis=true}, or an
index tensor or mask.
"""

import torch

from . import lua
from .cases import DTYPES, FLOATS, NAN, Arg, Dim, Group, Idx, from_one, values


class Subscript:
    """`x[entries]`; entries are ints, slices, None, index tensors (Idx) and masks (Arg)."""

    def __init__(self, *entries):
        self.entries = entries

    @property
    def value(self):
        return tuple(e.value if isinstance(e, Idx) else e.view() if isinstance(e, Arg) else e for e in self.entries)

    def spell(self):
        return "{subscript={" + ",".join(spell_entry(e) for e in self.entries) + "}}"


def spell_entry(entry):
    if isinstance(entry, (Idx, Arg)):
        return entry.spell()
    if entry is None:
        return "{newaxis=true}"
    if isinstance(entry, int):
        return f"{{at={from_one(entry)}}}"
    if entry == slice(None):
        return "{all=true}"
    # Python's end is excluded, Lua's last is included: 0-based end n is 1-based last n.
    first = from_one(entry.start or 0)
    last = -1 if entry.stop is None else entry.stop if entry.stop > 0 else entry.stop - 1
    return f"{{from={first},to={last},step={entry.step or 1}}}"


def get(x, subscript):
    return x[subscript.value]


def put(x, subscript, value):
    x = x.clone() if x.requires_grad else x
    x[subscript.value] = value
    return x


ALL = slice(None)
BASIC = [
    (0,), (-1,), (1, 2), (slice(0, 2),), (slice(1, None),), (slice(None, None, 2),), (ALL, 1), (ALL, slice(1, 3)), (slice(-2, None), -1),
    (ALL, ALL, slice(0, 4, 3)), (None, 1), (ALL, None, 0), (0, ALL, None), (2, 3, 4), (slice(0, -1), ALL, slice(1, -1)), (slice(1, 1),),
]


def subscripts(g):
    def read(*args):
        return g.add("index", *args, run=get, via="i", exact=True)

    def write(*args):
        return g.add("assign", *args, run=put, via="i", exact=True)

    x = values(torch.float64, 3, 4, 5)
    for entries in BASIC:
        read(Arg(x, grad=True), Subscript(*entries))
        write(Arg(values(torch.float32, 3, 4, 5)), Subscript(*entries), 2.5)
    for dtype in DTYPES:
        read(Arg(values(dtype, 3, 4)), Subscript(ALL, slice(1, 3)))
        read(Arg(values(dtype, 3, 4)), Subscript(Idx([2, 0])))
        write(Arg(values(dtype, 3, 4)), Subscript(1), 1)
        write(Arg(values(dtype, 3, 4)), Subscript(Idx([2, 0])), Arg(values(dtype, 4)))
    read(Arg(values(torch.float32, 4, 3), "transpose"), Subscript(1, slice(1, 3)))
    read(Arg(values(torch.float32, 4, 6), "step"), Subscript(slice(1, 3), 2))
    mask = values(torch.bool, 3, 4)
    mask[0, 1], mask[2, 3] = True, False
    advanced = [
        (Idx([0, 2]),), (Idx([-1, 0, 0]),), (Idx([[0, 1], [2, 0]]),), (Idx([0, 2]), Idx([1, 3])), (Idx([[0], [2]]), Idx([1, 3])), (ALL, Idx([3, 0])),
        (Idx([0, 2]), ALL, Idx([4, 1])), (slice(1, 3), Idx([0, 3, 3])), (1, Idx([2, 2])), (ALL, Idx([1]), Idx([0, 2])), (Arg(mask),), (Arg(mask[:, 0]),),
        (Arg(torch.zeros(3, 4, dtype=torch.bool)),), (Arg(mask[:, 1]), Idx(torch.tensor(2))), (ALL, Arg(mask[0])), (Idx(torch.zeros(0, dtype=torch.int64)),),
        (None, Idx([1, 2])), (Idx([1]), None, Idx([2])), (Arg(x > 0.5),),
    ]
    for entries in advanced:
        read(Arg(x, grad=True), Subscript(*entries))
        write(Arg(values(torch.float32, 3, 4, 5)), Subscript(*entries), -1)
        write(Arg(values(torch.float64, 3, 5, 4), "transpose"), Subscript(*entries), 0.5)
    write(Arg(values(torch.float32, 3, 4)), Subscript(ALL), Arg(values(torch.float32, 4)))
    write(Arg(values(torch.float32, 3, 4)), Subscript(slice(0, 2), slice(1, 3)), Arg(values(torch.float32, 2, 2)))
    write(Arg(values(torch.float32, 3, 4)), Subscript(ALL, 1), Arg(values(torch.int64, 3)))
    write(Arg(values(torch.int64, 3, 4)), Subscript(Idx([0, 2]), Idx([1, 3])), Arg(torch.tensor([7, 8])))
    write(Arg(values(torch.float32, 3, 4)), Subscript(Arg(mask)), Arg(values(torch.float32, int(mask.sum()))))
    write(Arg(values(torch.float64, 3, 4), grad=True), Subscript(slice(0, 2)), Arg(values(torch.float64, 2, 4), grad=True))
    write(Arg(values(torch.float64, 3, 4), grad=True), Subscript(Idx([0, 2])), Arg(values(torch.float64, 2, 4), grad=True))
    write(Arg(values(torch.float64, 3, 4), grad=True), Subscript(Arg(mask)), 0.0)


def pick(g):
    for dtype in DTYPES:
        g.add("gather", Arg(values(dtype, 3, 4)), Dim(1), Idx([[0, 3], [1, 1]]), exact=True)
        g.add("index_select", Arg(values(dtype, 3, 4)), Dim(1), Idx([3, 0, 0]), exact=True)
        g.add("scatter", Arg(values(dtype, 3, 4)), Dim(1), Idx([[0, 3], [1, 2]]), Arg(values(dtype, 2, 2)), exact=True)
        g.add("masked_select", Arg(values(dtype, 3, 4)), Arg(values(torch.bool, 3, 4)), exact=True)
        g.add("masked_fill", Arg(values(dtype, 3, 4)), Arg(values(torch.bool, 3, 4)), 1, exact=True)
        g.add("where", Arg(values(torch.bool, 3, 4)), Arg(values(dtype, 3, 4)), Arg(values(dtype, 4)), via="f", exact=True)
        g.add("nonzero", Arg(values(dtype, 3, 4)), index_out=(0,), exact=True)
    for dtype in (torch.float32, torch.float64):
        x = values(dtype, 3, 4)
        index = torch.randint(0, 3, (2, 4))
        g.add("gather", Arg(x, grad=True), Dim(0), Idx(index), exact=True)
        g.add("gather", Arg(x, "transpose", grad=True), Dim(-1), Idx(torch.randint(0, 3, (4, 2))), exact=True)
        g.add("gather", Arg(x, grad=True), dim=Dim(1), index=Idx([[0, 0, 0], [3, 3, 1], [2, 1, 0]]))
        g.add("index_select", Arg(x, grad=True), Dim(0), Idx([2, 0, 2, 1]))
        g.add("index_select", Arg(x, "transpose", grad=True), Dim(1), Idx([1, 1]))
        g.add("scatter", Arg(x, grad=True), Dim(0), Idx([[0, 1, 2, 0]]), Arg(values(dtype, 1, 4), grad=True), exact=True)
        g.add("scatter", Arg(x, grad=True), Dim(1), Idx([[1], [0], [3]]), 5.0, exact=True)
        g.add("masked_select", Arg(x, "transpose", grad=True), Arg(values(torch.bool, 4, 3)), exact=True)
        g.add("masked_select", Arg(x, grad=True), Arg(values(torch.bool, 4)), exact=True)
        g.add("masked_fill", Arg(x, grad=True), Arg(values(torch.bool, 3, 1)), -1.5, exact=True)
        g.add("masked_fill", Arg(x, grad=True), Arg(values(torch.bool, 3, 4)), Arg(torch.tensor(2.0, dtype=dtype), grad=True))
        g.add("where", Arg(values(torch.bool, 3, 1)), Arg(x, grad=True), Arg(values(dtype, 4), grad=True), via="f")
        g.add("where", Arg(values(torch.bool, 3, 4)), Arg(x, grad=True), 0.0, via="f", exact=True)
        g.add("where", Arg(values(torch.bool, 3)), 1.5, Arg(values(dtype, 3), grad=True), via="f", exact=True)
    g.add("where", Arg(values(torch.bool, 3)), Arg(values(torch.int64, 3)), Arg(values(torch.float16, 3)), via="f", exact=True)
    g.add("where", Arg(torch.tensor(True)), Arg(torch.tensor([NAN, 1.0])), Arg(torch.tensor([2.0, NAN])), via="f", exact=True)
    g.add("gather", Arg(torch.ones(2, 3)), Dim(0), Idx(torch.zeros(0, 3, dtype=torch.int64)))
    g.add("index_select", Arg(torch.ones(2, 3)), Dim(0), Idx(torch.zeros(0, dtype=torch.int64)))
    g.add("gather", Arg(torch.tensor(5.0)), Dim(0), Idx(torch.tensor(0)))
    for shape in ((), (0,), (5,), (2, 0), (2, 3, 2)):
        g.add("nonzero", Arg(values(torch.int64, *shape)), index_out=(0,), exact=True)
    g.add("nonzero", Arg(values(torch.int32, 3, 4), "transpose"), index_out=(0,), exact=True)
    g.add("nonzero", Arg(torch.tensor([0.0, NAN, -0.0, 2.0])), index_out=(0,), exact=True)
    g.add("scatter_", Arg(torch.zeros(3, 5)), Dim(0), Idx([[0, 1, 2, 0, 0]]), Arg(torch.ones(1, 5)),
          run=lambda x, *rest: x.scatter_(*rest), via="m", exact=True)
    g.add("masked_fill_", Arg(values(torch.float32, 2, 3)), Arg(values(torch.bool, 3)), 9,
          run=lambda x, *rest: x.masked_fill_(*rest), via="m", exact=True)


def errors(g):
    x = torch.ones(2, 3)
    g.fails("index", Arg(x), Subscript(5), run=get, via="i", message="out of bounds for dimension")
    g.fails("index", Arg(x), Subscript(0, 0, 0), run=get, via="i", message="too many indices for tensor of dimension 2")
    g.fails("index", Arg(x), Subscript(Idx([0, 7])), run=get, via="i", message="out of bounds for dimension")
    g.fails("index", Arg(x), Subscript(Arg(torch.ones(3, dtype=torch.bool))), run=get, via="i", message="The shape of the mask [3] at index")
    g.fails("index", Arg(x), Subscript(Idx([0, 1]), Idx([0, 1, 2])), run=get, via="i",
            message="shape mismatch: indexing tensors could not be broadcast together with shapes [2], [3]")
    g.fails("assign", Arg(x), Subscript(0), Arg(torch.ones(4)), run=put, via="i", message="The expanded size of the tensor (3) must match the existing size (4)")
    g.fails("gather", Arg(x), Dim(1), Idx([[3]]), message="is out of bounds for dimension")
    g.fails("index_select", Arg(x), Dim(0), Idx([9]), message="out of range")
    g.fails("masked_fill", Arg(x), Arg(torch.ones(2, 3)), 1, message="masked_fill_ only supports boolean masks, but got mask with dtype float")
    g.fails("select", Arg(x), Dim(0), Dim(4), message="out of range for tensor of size [2, 3] at dimension")
    g.fails("narrow", Arg(x), Dim(1), Dim(1), 5, message="exceeds dimension size (3)")


def write(path):
    g = Group()
    for part in (subscripts, pick, errors):
        part(g)
    return g.write(path, "Indexing, assignment, gather and scatter, masks.")
