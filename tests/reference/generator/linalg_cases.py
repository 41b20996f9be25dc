"""Factorizations, inverses and solutions of matrices. Factors are unique up to signs: they are compared by what
they multiply to, through `run` and the case's name for it in Lua (support/matrices.lua)."""

import torch

from .cases import INF, Arg, Dim, Dims, Group, values

GRAD = {"grad": True}
KINDS = (torch.float32, torch.float64)


def matrix(dtype, *shape):
    t = values(dtype, *shape)
    n = min(shape[-2:])
    return t + 4 * torch.eye(shape[-2], shape[-1], dtype=dtype) if n > 0 else t


def positive(dtype, *shape):
    t = values(torch.float64, *shape)
    return ((t @ t.mT + 2 * torch.eye(shape[-1], dtype=torch.float64)) * 100).round().div(100).to(dtype)


def inverses(g):
    for dtype in KINDS:
        loose = 400
        for shape in ((3, 3), (1, 1), (2, 3, 3), (2, 2, 2, 2)):
            a = matrix(dtype, *shape)
            g.add("inverse", Arg(a, **GRAD), loose=loose)
            g.add("inverse", Arg(a, "transpose"), loose=loose)
            g.add("det", Arg(a, **GRAD), loose=loose)
            g.add("slogdet", Arg(a), loose=loose)
            g.add("logdet", Arg(positive(dtype, *shape), **GRAD), loose=loose)
            g.add("cholesky", Arg(positive(dtype, *shape), **GRAD), loose=loose)
            g.add("cholesky", Arg(positive(dtype, *shape), **GRAD), upper=True, loose=loose)
            g.add("pinverse", Arg(a, **GRAD), loose=loose * 4)
        for shape in ((3, 2), (2, 4), (2, 3, 2)):
            g.add("pinverse", Arg(matrix(dtype, *shape), **GRAD), loose=loose * 4)
            g.add("linalg_matrix_rank", Arg(matrix(dtype, *shape)), run=torch.linalg.matrix_rank, via="f")
            g.add("linalg_svdvals", Arg(matrix(dtype, *shape), **GRAD), run=torch.linalg.svdvals, via="f", loose=loose)
        g.add("linalg_matrix_rank", Arg(torch.ones(3, 3, dtype=dtype)), run=torch.linalg.matrix_rank, via="f")
        g.add("linalg_eigvalsh", Arg(positive(dtype, 3, 3), **GRAD), run=lambda a: torch.linalg.eigvalsh(a), via="f", loose=loose)
        g.add("linalg_eigvalsh", Arg(positive(dtype, 2, 3, 3)), "U", run=torch.linalg.eigvalsh, via="f", loose=loose)
        for ord in (1, -1, 2, -2, INF, -INF, "fro", "nuc"):
            g.add("linalg_matrix_norm", Arg(matrix(dtype, 3, 4), **GRAD), ord, run=torch.linalg.matrix_norm, via="f", loose=loose)
            g.add("linalg_matrix_norm", Arg(values(dtype, 2, 3, 4)), ord, dim=Dims(0, 2), keepdim=True, run=torch.linalg.matrix_norm, via="f", loose=loose)
        g.add("linalg_matrix_norm", Arg(matrix(dtype, 3, 4)), run=torch.linalg.matrix_norm, via="f", loose=loose)
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            a = matrix(dtype, *shape)
            g.add("linalg_pinv", Arg(a, **GRAD), run=torch.linalg.pinv, via="f", loose=loose * 4)
            # Householder's reflections leave no choice of signs
            g.add("linalg_qr", Arg(a, **GRAD), run=torch.linalg.qr, via="f", loose=loose)
            g.add("linalg_qr", Arg(a), "r", run=torch.linalg.qr, via="f", loose=loose)
            g.add("linalg_qr", Arg(a), mode="complete", run=torch.linalg.qr, via="f", loose=loose)
            g.add("qr", Arg(a, **GRAD), loose=loose)
            g.add("qr", Arg(a), False, loose=loose)
        g.add("norm", Arg(matrix(dtype, 3, 4), **GRAD), "nuc", loose=loose)
        g.add("norm", Arg(matrix(dtype, 3, 4), **GRAD), "nuc", Dims(0, 1), loose=loose)
        g.add("linalg_pinv", Arg(positive(dtype, 3, 3), **GRAD), hermitian=True, run=torch.linalg.pinv, via="f", loose=loose * 4)
        g.add("linalg_pinv", Arg(torch.tensor([[1.0, 1.0], [1.0, 1.0001]], dtype=dtype)), rtol=0.1, run=torch.linalg.pinv, via="f", loose=loose * 4)
    for n in (-1, -2):
        g.add("matrix_power", Arg(matrix(torch.float64, 2, 2), **GRAD), n, loose=400)
    g.add("inverse", Arg(torch.ones(0, 0)))
    g.add("inverse", Arg(torch.ones(2, 0, 0)))
    g.add("det", Arg(torch.ones(0, 0)))
    g.add("det", Arg(torch.ones(2, 2)))
    g.add("slogdet", Arg(torch.ones(2, 2)))
    g.add("cholesky", Arg(torch.ones(0, 0)))


def solutions(g):
    solve = lambda a, b, left=True: torch.linalg.solve(a, b, left=left)
    for dtype in KINDS:
        for a, b in (((3, 3), (3, 2)), ((3, 3), (3,)), ((2, 3, 3), (2, 3, 2)), ((2, 3, 3), (2, 3)), ((2, 3, 3), (3, 1)), ((1, 2, 3, 3), (2, 1, 3, 2))):
            g.add("linalg_solve", Arg(matrix(dtype, *a), **GRAD), Arg(values(dtype, *b), **GRAD), run=solve, via="f", loose=800)
        g.add("linalg_solve", Arg(matrix(dtype, 3, 3), **GRAD), Arg(values(dtype, 2, 3), **GRAD), left=False, run=solve, via="f", loose=800)
        for upper in (False, True):
            for left in (False, True):
                g.add("linalg_solve_triangular", Arg(matrix(dtype, 3, 3), **GRAD), Arg(values(dtype, 3, 3), **GRAD), upper=upper, left=left,
                      run=torch.linalg.solve_triangular, via="f", loose=800)
            g.add("linalg_solve_triangular", Arg(matrix(dtype, 2, 3, 3), **GRAD), Arg(values(dtype, 2, 3, 1), **GRAD), upper=upper, unitriangular=True,
                  run=torch.linalg.solve_triangular, via="f", loose=800)
        for a, b in (((4, 2), (4, 3)), ((3, 3), (3, 1)), ((2, 4), (2, 2)), ((2, 4, 2), (2, 4, 1)), ((4, 2), (4,))):
            g.add("linalg_lstsq", Arg(matrix(dtype, *a), **GRAD), Arg(values(dtype, *b), **GRAD), via="f", loose=4000,
                  run=lambda a, b: torch.linalg.lstsq(a, b).solution)
        g.add("linalg_multi_dot", [Arg(values(dtype, 3), **GRAD), Arg(values(dtype, 3, 4), **GRAD), Arg(values(dtype, 4), **GRAD)], via="f", run=torch.linalg.multi_dot, loose=8)
        g.add("linalg_multi_dot", [Arg(values(dtype, 2, 3)), Arg(values(dtype, 3, 4)), Arg(values(dtype, 4, 1)), Arg(values(dtype, 1, 2))], via="f", run=torch.linalg.multi_dot, loose=8)
        g.add("linalg_cross", Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 2, 3), **GRAD), via="f", run=torch.linalg.cross, loose=4)
        g.add("linalg_cross", Arg(values(dtype, 3, 2)), Arg(values(dtype, 3, 2)), dim=Dim(0), via="f", run=torch.linalg.cross, loose=4)


def without_vectors(g):
    for dtype in KINDS:
        for some in (True, False):
            for sizes in ((3, 2), (2, 3), (2, 2, 2)):
                g.add("svd", Arg(values(dtype, *sizes)), some, False, run=lambda *a: torch.svd(*a), loose=20)


def equal_values(g):
    """Values without vectors have derivatives where two are equal."""
    for t in (torch.eye(3), torch.zeros(2, 2), torch.diag(torch.tensor([2.0, 2.0, 1.0]))):
        g.add("linalg_eigvalsh", Arg(t.double(), **GRAD), run=torch.linalg.eigvalsh, via="f", loose=20)
    for t in (torch.eye(3), torch.zeros(3, 2), torch.zeros(2, 3), torch.eye(2, 4)):
        for order in ("nuc", 2):
            if order == "nuc" or t.shape[0] != 3:
                g.add("linalg_matrix_norm", Arg(t.double()), order, run=torch.linalg.matrix_norm, via="f", loose=20)
        g.add("linalg_svdvals", Arg(t.double()), run=torch.linalg.svdvals, via="f", loose=20)
    g.add("linalg_matrix_norm", Arg(torch.eye(3).double(), **GRAD), "nuc", run=torch.linalg.matrix_norm, via="f", loose=20)
    for shape in ((0, 0), (0, 3), (3, 0), (2, 0, 3)):
        for order in (1, INF, 2, "nuc", "fro"):
            g.add("linalg_matrix_norm", Arg(torch.ones(shape)), order, run=torch.linalg.matrix_norm, via="f")
        g.fails("linalg_matrix_norm", Arg(torch.ones(shape)), -2, run=torch.linalg.matrix_norm, via="f", message="to have non-zero size")


def errors(g):
    g.fails("inverse", Arg(torch.ones(2, 3)), message="linalg.inv: A must be batches of square matrices, but they are 2 by 3 matrices")
    g.fails("inverse", Arg(torch.ones(3)), message="linalg.inv: The input tensor A must have at least 2 dimensions.")
    g.fails("inverse", Arg(torch.zeros(2, 2)), message="linalg.inv: The diagonal element 1 is zero, the inversion could not be completed because the input matrix is singular.")
    g.fails("inverse", Arg(torch.ones(2, 2).half()), message="linalg.inv: Low precision dtypes not supported. Got Half")
    g.fails("det", Arg(torch.ones(2, 2).long()), message="linalg.det: Expected a floating point or complex tensor as input. Got Long")
    g.fails("cholesky", Arg(-torch.eye(2)), run=torch.linalg.cholesky, message="linalg.cholesky: The factorization could not be completed because the input is not positive-definite (the leading minor of order 1 is not positive-definite).")
    g.fails("linalg_solve", Arg(torch.zeros(2, 2)), Arg(torch.ones(2)), run=torch.linalg.solve, via="f", message="The solver failed because the input matrix is singular.")
    g.fails("linalg_matrix_norm", Arg(torch.ones(2, 2)), 3, run=torch.linalg.matrix_norm, via="f", message="linalg.matrix_norm: Order 3 not supported.")


def write(path):
    g = Group()
    for part in (inverses, solutions, without_vectors, equal_values, errors):
        part(g)
    return g.write(path, "Factorizations, inverses and solutions of matrices.")
