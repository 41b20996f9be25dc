"""Products of matrices and vectors: shapes that broadcast, layouts, empty operands, gradients."""

import torch

from .cases import FLOATS, INF, INTEGERS, NAN, Arg, Group, values

LAYOUTS = [(None, None), ("transpose", None), (None, "transpose"), ("transpose", "transpose"), ("step", None), (None, "step")]


def operand(dtype, rows, columns, layout):
    if layout == "transpose":
        return values(dtype, columns, rows)
    if layout == "step":
        t = values(dtype, rows, 2 * columns)
        t[..., 1::2] = NAN if dtype.is_floating_point else 0
        return t
    return values(dtype, rows, columns)


def matrices(g):
    for dtype in INTEGERS + FLOATS:
        g.add("mm", Arg(values(dtype, 2, 3)), Arg(values(dtype, 3, 4)))
        g.add("matmul", Arg(values(dtype, 2, 3)), Arg(values(dtype, 3)))
        g.add("bmm", Arg(values(dtype, 2, 2, 3)), Arg(values(dtype, 2, 3, 2)))
        g.add("mv", Arg(values(dtype, 3, 4)), Arg(values(dtype, 4)))
        g.add("dot", Arg(values(dtype, 5)), Arg(values(dtype, 5)))
        g.add("addmm", Arg(values(dtype, 2, 2)), Arg(values(dtype, 2, 3)), Arg(values(dtype, 3, 2)))
    for dtype in (torch.float32, torch.float64):
        for la, lb in LAYOUTS:
            g.add("mm", Arg(operand(dtype, 3, 4, la), la), Arg(operand(dtype, 4, 5, lb), lb))
            g.add("mm", Arg(values(dtype, *((4, 3) if la == "transpose" else (3, 4))), la if la != "step" else None, grad=True),
                  Arg(values(dtype, *((5, 4) if lb == "transpose" else (4, 5))), lb if lb != "step" else None, grad=True))
            g.add("addmm", Arg(values(dtype, 5)), Arg(operand(dtype, 3, 4, la), la), Arg(operand(dtype, 4, 5, lb), lb))
        g.add("mv", Arg(values(dtype, 4, 3), "transpose", grad=True), Arg(values(dtype, 4), grad=True))
        g.add("mv", Arg(operand(dtype, 3, 4, "step"), "step"), Arg(values(dtype, 4)))
        g.add("dot", Arg(values(dtype, 6), grad=True), Arg(values(dtype, 6), grad=True))
        g.add("dot", Arg(operand(dtype, 1, 5, "step")[0], "step"), Arg(values(dtype, 5)))
        g.add("addmm", Arg(values(dtype, 5), grad=True), Arg(values(dtype, 3, 4), grad=True), Arg(values(dtype, 4, 5), grad=True))
        g.add("addmm", Arg(values(dtype, 3, 1), grad=True), Arg(values(dtype, 3, 4)), Arg(values(dtype, 4, 5)), beta=0.5, alpha=2)
        g.add("addmm", Arg(values(dtype, 3, 5), grad=True), Arg(values(dtype, 3, 4), grad=True), Arg(values(dtype, 4, 5), grad=True), beta=2, alpha=-1.5)
        g.add("bmm", Arg(values(dtype, 3, 2, 4), grad=True), Arg(values(dtype, 3, 4, 2), grad=True))
        g.add("bmm", Arg(values(dtype, 3, 4, 2), "transpose", grad=True), Arg(values(dtype, 3, 5, 4), "transpose", grad=True))
        g.add("bmm", Arg(values(dtype, 2, 4), "expand"), Arg(values(dtype, 2, 4, 3)))
        g.add("mm", Arg(values(dtype, 17, 33)), Arg(values(dtype, 33, 9)))
    g.add("addmm", Arg(torch.full((2, 2), NAN)), Arg(values(torch.float32, 2, 3)), Arg(values(torch.float32, 3, 2)), beta=0)
    g.add("mm", Arg(torch.tensor([[INF, 1.0], [NAN, 0.0]])), Arg(torch.tensor([[1.0, 0.0], [2.0, 3.0]])))
    for left, right in (((0, 3), (3, 4)), ((2, 0), (0, 4)), ((2, 3), (3, 0))):
        g.add("mm", Arg(torch.ones(left)), Arg(torch.ones(right)))
    g.add("mm", Arg(torch.ones(2, 0), grad=True), Arg(torch.ones(0, 4), grad=True))
    g.add("bmm", Arg(torch.ones(0, 2, 3)), Arg(torch.ones(0, 3, 2)))
    g.add("bmm", Arg(torch.ones(2, 2, 0)), Arg(torch.ones(2, 0, 3)))
    g.add("mv", Arg(torch.ones(2, 0)), Arg(torch.ones(0)))
    g.add("dot", Arg(torch.ones(0)), Arg(torch.ones(0)))
    g.add("addmm", Arg(torch.ones(4)), Arg(torch.ones(2, 0)), Arg(torch.ones(0, 4)))


def matmul(g):
    shapes = [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 2)), ((4, 2, 3), (3,)), ((4, 2, 3), (3, 5)),
        ((3,), (4, 3, 2)), ((2, 3), (4, 3, 2)), ((4, 2, 3), (4, 3, 2)), ((1, 2, 3), (4, 3, 2)), ((2, 1, 2, 3), (4, 3, 2)),
        ((2, 4, 2, 3), (2, 4, 3, 1)), ((0, 2, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 1, 3, 4), (1, 3, 4, 2)),
    ]
    for left, right in shapes:
        for dtype in (torch.float32, torch.float64):
            g.add("matmul", Arg(values(dtype, *left), grad=True), Arg(values(dtype, *right), grad=True))
    g.add("matmul", Arg(values(torch.float64, 2, 4, 3), "transpose", grad=True), Arg(values(torch.float64, 4, 2), grad=True))
    g.add("matmul", Arg(values(torch.bfloat16, 2, 3, 4)), Arg(values(torch.bfloat16, 2, 4, 3)))
    g.add("matmul", Arg(values(torch.int64, 2, 3, 4)), Arg(values(torch.int64, 4)))


def errors(g):
    g.fails("mm", Arg(torch.ones(2, 3)), Arg(torch.ones(2, 3)), message="mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)")
    g.fails("matmul", Arg(torch.ones(2, 3)), Arg(torch.ones(4, 3)), message="mat1 and mat2 shapes cannot be multiplied (2x3 and 4x3)")
    g.fails("mm", Arg(torch.ones(2, 3)), Arg(torch.ones(3)), message="mat2 must be a matrix")
    g.fails("mm", Arg(torch.ones(2, 3)), Arg(torch.ones(3, 2).double()), message="expected m1 and m2 to have the same dtype, but got: float != double")
    g.fails("dot", Arg(torch.ones(2)), Arg(torch.ones(3)), message="inconsistent tensor size, expected tensor [2] and src [3] to have the same number of elements")
    g.fails("matmul", Arg(torch.tensor(1.0)), Arg(torch.ones(3)), message="both arguments to matmul need to be at least 1D")


def write(path):
    g = Group()
    for part in (matrices, matmul, errors):
        part(g)
    return g.write(path, "Products of matrices and vectors.")
