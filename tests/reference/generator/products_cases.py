"""Products made of other products: einsum, tensordot, kron, chains, distances."""

import torch

from .cases import Arg, Dim, Dims, FLOATS, Group, values

GRAD = {"grad": True}
EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("ij->ji", (2, 3)), ("ij", (2, 3)), ("ba", (2, 3)), ("ii", (3, 3)),
    ("ii->i", (3, 3)), ("ij->", (2, 3)), ("ij->j", (2, 3)), ("i,j->ij", (2,), (3,)), ("i,i->", (3,), (3,)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
    ("...ij,...jk->...ik", (2, 2, 3), (3, 2)), ("...ii->...i", (2, 3, 3)), ("i...->...i", (2, 3, 2)), ("ij,ij->ij", (2, 3), (2, 3)),
    ("bn,anm,bm->ba", (2, 3), (4, 3, 2), (2, 2)), ("ijk,jil->kl", (2, 3, 2), (3, 2, 2)), ("iij->j", (2, 2, 3)), ("ijij->ij", (2, 3, 2, 3)),
    ("bhid,bhjd->bhij", (2, 2, 3, 2), (2, 2, 4, 2)), ("i,j,k->ijk", (2,), (3,), (2,)), ("i j, j -> i", (2, 3), (3,)), (",", (), ()), ("a,->a", (2,), ()),
    ("...,...->...", (2, 3), (3,)), ("ij,kl->", (2, 2), (2, 3)), ("A,B->BA", (2,), (3,)), ("ab,ab,ab->a", (2, 3), (2, 3), (2, 3)),
    ("...a,...b", (2, 3), (2, 2)), ("iii->i", (2, 2, 2)), ("ab,cb->ac", (1, 3), (2, 3)), ("ij,jk->ik", (0, 3), (3, 2)), ("ij,jk->ik", (2, 0), (0, 2)),
]


def einsum(g):
    for equation, *shapes in EQUATIONS:
        for dtype in (torch.float32, torch.float64):
            g.add("einsum", equation, [Arg(values(dtype, *s), **GRAD) for s in shapes], via="f", loose=4)
        g.add("einsum", equation, [Arg(values(torch.int64, *s)) for s in shapes], via="f", exact=True)
    g.add("einsum", "ij,jk->ik", [Arg(values(torch.float64, 3, 2), "transpose", **GRAD), Arg(values(torch.float64, 3, 4), "step", **GRAD)], via="f")
    g.fails("einsum", "ij,jk", [Arg(torch.ones(2, 3))], via="f", message="einsum(): fewer operands were provided than specified in the equation")
    g.fails("einsum", "ij", [Arg(torch.ones(2, 3)), Arg(torch.ones(2))], via="f", message="einsum(): more operands were provided than specified in the equation")
    g.fails("einsum", "ij->ik", [Arg(torch.ones(2, 3))], via="f", message="einsum(): output subscript k does not appear in the equation for any input operand")
    g.fails("einsum", "ij->ii", [Arg(torch.ones(2, 3))], via="f", message="einsum(): output subscript i appears more than once in the output")
    g.fails("einsum", "ijk", [Arg(torch.ones(2, 3))], via="f", message="einsum(): the number of subscripts in the equation (3)")
    g.fails("einsum", "ij,jk", [Arg(torch.ones(2, 3)), Arg(torch.ones(2, 3))], via="f", message="einsum(): subscript j has size 2 for operand ")
    g.fails("einsum", "ii", [Arg(torch.ones(2, 3))], via="f", message="einsum(): subscript i is repeated for operand")


def products(g):
    kinds = [torch.float32, torch.float64, torch.int64]
    for dtype in kinds + [torch.bfloat16, torch.int32]:
        grad = GRAD if dtype in (torch.float32, torch.float64) else {}
        g.add("outer", Arg(values(dtype, 3), **grad), Arg(values(dtype, 2), **grad))
        g.add("inner", Arg(values(dtype, 2, 3), **grad), Arg(values(dtype, 4, 3), **grad))
        g.add("kron", Arg(values(dtype, 2, 3), **grad), Arg(values(dtype, 3, 2), **grad))
        g.add("addr", Arg(values(dtype, 2, 3), **grad), Arg(values(dtype, 2), **grad), Arg(values(dtype, 3), **grad))
        g.add("addbmm", Arg(values(dtype, 2, 2), **grad), Arg(values(dtype, 3, 2, 4), **grad), Arg(values(dtype, 3, 4, 2), **grad), loose=4)
        g.add("tensordot", Arg(values(dtype, 2, 3), **grad), Arg(values(dtype, 2, 3), **grad), via="f", run=lambda a, b: torch.tensordot(a, b, dims=2))
        g.add("cross", Arg(values(dtype, 2, 3), **grad), Arg(values(dtype, 2, 3), **grad))
        g.add("chain_matmul", [Arg(values(dtype, 2, 3), **grad), Arg(values(dtype, 3, 2), **grad), Arg(values(dtype, 2, 4), **grad)], via="f",
              run=lambda ts: torch.chain_matmul(*ts), loose=4)
        g.add("matrix_power", Arg(values(dtype, 2, 2), **grad), 3, loose=8)
        g.add("matrix_power", Arg(values(dtype, 2, 3, 3), **grad), 2, loose=4)
    for a, b in (((3,), (3,)), ((2, 3), (3,)), ((2, 2, 3), (2, 3)), ((), (2, 3)), ((2, 0), (3, 0))):
        g.add("inner", Arg(values(torch.float64, *a), **GRAD), Arg(values(torch.float64, *b), **GRAD))
    for a, b in (((3,), (2,)), ((2,), (2, 3)), ((), (2, 3)), ((2, 1, 2), (3, 2)), ((0, 2), (2, 2))):
        g.add("kron", Arg(values(torch.float64, *a), **GRAD), Arg(values(torch.float64, *b), **GRAD))
    for beta, alpha in ((0, 1), (0.5, 2), (2, -1.5)):
        g.add("addr", Arg(values(torch.float64, 3), **GRAD), Arg(values(torch.float64, 2), **GRAD), Arg(values(torch.float64, 3), **GRAD), beta=beta, alpha=alpha)
        g.add("addbmm", Arg(values(torch.float64, 2), **GRAD), Arg(values(torch.float64, 3, 2, 4), **GRAD), Arg(values(torch.float64, 3, 4, 2)), beta=beta, alpha=alpha)
    for n in (0, 1, 2):
        g.add("tensordot", Arg(values(torch.float64, 3, 2, 2), **GRAD), Arg(values(torch.float64, 2, 2, 3), **GRAD), n, via="f")
    g.add("tensordot", Arg(values(torch.float64, 2, 3, 4), **GRAD), Arg(values(torch.float64, 3, 2, 2), **GRAD), Dims(0, 1), Dims(1, 0), via="f",
          run=lambda a, b, i, j: torch.tensordot(a, b, dims=(i, j)))
    for dim in (0, 1, -1):
        g.add("cross", Arg(values(torch.float64, 3, 3), **GRAD), Arg(values(torch.float64, 3, 3), **GRAD), Dim(dim))
    for n in (0, 1, 4, 5):
        g.add("matrix_power", Arg(values(torch.float64, 2, 2) + 3 * torch.eye(2, dtype=torch.float64), grad=n != 0), n, loose=100)
    for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
        g.add("cdist", Arg(values(torch.float64, 3, 2), **GRAD), Arg(values(torch.float64, 4, 2), **GRAD), p, via="f", loose=100)
        g.add("cdist", Arg(values(torch.float64, 2, 3, 2)), Arg(values(torch.float64, 2, 4, 2)), p, via="f", loose=100)
    g.add("cdist", Arg(values(torch.float32, 5, 3)), Arg(values(torch.float32, 2, 3)), via="f", loose=4)
    g.fails("cross", Arg(torch.ones(2, 2)), Arg(torch.ones(2, 2)), Dim(1), message="linalg.cross: inputs dimension")
    g.fails("inner", Arg(torch.ones(2, 3)), Arg(torch.ones(2)), message="inner() the last dimension must match on both input tensors but got shapes [2, 3] and [2]")
    g.fails("cdist", Arg(torch.ones(2, 3)), Arg(torch.ones(2, 2)), via="f", message="X1 and X2 must have the same number of columns. X1: 3 X2: 2")
    for a, b in (((3, 1, 2), (2, 4, 3)), ((3, 4, 2), (2, 1, 3))):
        g.add("tensordot", Arg(values(torch.float64, *a), **GRAD), Arg(values(torch.float64, *b), **GRAD), Dims(0, 1), Dims(2, 1), via="f",
              run=lambda a, b, i, j: torch.tensordot(a, b, dims=(i, j)))
    g.add("tensordot", Arg(torch.arange(3, dtype=torch.int16).reshape(3, 1)), Arg(torch.arange(12, dtype=torch.int16).reshape(4, 3)), Dims(0, 1), Dims(1, 0),
          via="f", run=lambda a, b, i, j: torch.tensordot(a, b, dims=(i, j)))
    g.fails("tensordot", Arg(torch.ones(2, 3)), Arg(torch.ones(3, 2)), Dims(0), Dims(0), via="f", run=lambda a, b, i, j: torch.tensordot(a, b, dims=(i, j)),
            message="contracted dimensions need to match, but first has size 2 in dim")
    g.fails("matrix_power", Arg(torch.ones(2, 3)), 2, message="linalg.matrix_power: A must be batches of square matrices, but they are 2 by 3 matrices")


def write(path):
    g = Group()
    for part in (einsum, products):
        part(g)
    return g.write(path, "einsum, tensordot, kron, chains and distances.")
