"""Complex matrices: factorizations, inverses, solutions, norms and functions, with derivatives by the conjugate. Where factors are
free up to directions (svd, eigh, eig) complex_linalg_spec.lua says what they multiply to."""

import torch

from . import cases
from .cases import INF, Dim, Group, values

GRAD = {"grad": True}
KINDS = (torch.complex64, torch.complex128)
LOOSE = 800


class Arg(cases.Arg):
    """A tensor argument that may want a complex gradient."""

    def __init__(self, base, layout=None, grad=False):
        super().__init__(base, layout, grad)
        self.grad = grad


def matrix(dtype, *shape):
    return values(dtype, *shape) + 4 * torch.eye(shape[-2], shape[-1], dtype=dtype)


def positive(dtype, *shape):
    t = values(torch.complex128, *shape)
    t = t @ t.mH + 2 * torch.eye(shape[-1], dtype=torch.complex128)
    return torch.view_as_complex((torch.view_as_real(t) * 64).round().div(64)).to(dtype)


def square(g, dtype, linalg):
    for shape in ((3, 3), (1, 1), (2, 3, 3)):
        a, hermitian = matrix(dtype, *shape), positive(dtype, *shape)
        g.add("inverse", Arg(a, **GRAD), loose=LOOSE)
        g.add("inverse", Arg(a, "transpose"), loose=LOOSE)
        g.add("det", Arg(a, **GRAD), loose=LOOSE)
        g.add("slogdet", Arg(a, **GRAD), loose=LOOSE)
        g.add("logdet", Arg(a, **GRAD), loose=LOOSE)
        for upper in (False, True):
            g.add("cholesky", Arg(hermitian, **GRAD), upper=upper, loose=LOOSE)
        linalg("inv_ex", Arg(a))
        linalg("cholesky_ex", Arg(hermitian))
        linalg("eigvalsh", Arg(hermitian, **GRAD))
        linalg("eigvalsh", Arg(hermitian), "U")
        linalg("matrix_exp", Arg(a / 4, **GRAD))
        linalg("pinv", Arg(hermitian, **GRAD), hermitian=True)
        for p in (None, 2, -2, 1, INF, "fro", "nuc"):
            linalg("cond", Arg(a), p)
        for of_hermitian in (False, True):
            linalg("ldl_factor", Arg(hermitian), hermitian=of_hermitian)
    g.add("det", Arg(torch.zeros(2, 2, dtype=dtype)))
    g.add("slogdet", Arg(torch.zeros(2, 2, dtype=dtype)))
    for shape in ((0, 0), (2, 0, 0)):
        g.add("inverse", Arg(torch.ones(shape, dtype=dtype)))
        g.add("det", Arg(torch.ones(shape, dtype=dtype)))


def any_shape(g, dtype, linalg):
    for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
        a = matrix(dtype, *shape)
        linalg("pinv", Arg(a, **GRAD))
        linalg("qr", Arg(a, **GRAD))
        linalg("qr", Arg(a), mode="complete")
        linalg("svdvals", Arg(a, **GRAD))
        linalg("matrix_rank", Arg(a))
        linalg("lu_factor", Arg(a, **GRAD))
        linalg("lu", Arg(a))
        g.add("geqrf", Arg(a), loose=LOOSE)
        for order in (1, -1, 2, -2, INF, -INF, "fro", "nuc"):
            linalg("matrix_norm", Arg(a, **GRAD), order)
        for order in (0.5, 1, 2, 3, INF, -INF):
            linalg("vector_norm", Arg(a, **GRAD), order)
    a = matrix(dtype, 4, 3)
    reflectors, tau = torch.geqrf(a)
    linalg("householder_product", Arg(reflectors, **GRAD), Arg(tau, **GRAD))
    for left, other in ((True, (4, 2)), (False, (2, 4))):
        for transpose in (False, True):
            g.add("ormqr", Arg(reflectors), Arg(tau), Arg(values(dtype, *other)), left, transpose, loose=LOOSE)


def solutions(g, dtype, linalg):
    for a, b in (((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 2)), ((2, 3, 3), (3, 1))):
        linalg("solve", Arg(matrix(dtype, *a), **GRAD), Arg(values(dtype, *b), **GRAD))
    linalg("solve", Arg(matrix(dtype, 3, 3), **GRAD), Arg(values(dtype, 2, 3), **GRAD), left=False)
    for upper in (False, True):
        for left in (False, True):
            linalg("solve_triangular", Arg(matrix(dtype, 3, 3), **GRAD), Arg(values(dtype, 3, 3), **GRAD), upper=upper, left=left)
        factor = torch.linalg.cholesky(positive(dtype, 3, 3), upper=upper)
        g.add("cholesky_solve", Arg(values(dtype, 3, 2)), Arg(factor), upper, loose=LOOSE)
        g.add("cholesky_inverse", Arg(factor), upper, loose=LOOSE)
        g.add("triangular_solve", Arg(values(dtype, 3, 2)), Arg(matrix(dtype, 3, 3)), upper, upper, loose=LOOSE)
    for a, b in (((4, 2), (4, 3)), ((3, 3), (3, 1)), ((2, 4), (2, 2)), ((2, 4, 2), (2, 4, 1))):
        g.add("linalg_lstsq", Arg(matrix(dtype, *a), **GRAD), Arg(values(dtype, *b), **GRAD), via="f", loose=5 * LOOSE,
              run=lambda a, b: torch.linalg.lstsq(a, b).solution)
    factors, pivots = torch.linalg.lu_factor(matrix(dtype, 3, 3))
    for left, adjoint, other in ((True, False, (3, 2)), (True, True, (3, 2)), (False, False, (2, 3)), (False, True, (2, 3))):
        linalg("lu_solve", Arg(factors, **GRAD), Arg(pivots), Arg(values(dtype, *other), **GRAD), left=left, adjoint=adjoint)
    for hermitian in (False, True):
        a = positive(dtype, 2, 3, 3) - 20 * torch.eye(3, dtype=dtype)
        factors, pivots = torch.linalg.ldl_factor(a, hermitian=hermitian)
        linalg("ldl_solve", Arg(factors), Arg(pivots), Arg(values(dtype, 2, 3, 2)), hermitian=hermitian)
    linalg("vecdot", Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 2, 3), **GRAD), dim=Dim(0))
    linalg("vander", Arg(values(dtype, 3)))


def of_real_numbers(g, linalg):
    for dtype in (torch.float32, torch.float64):
        a = values(dtype, 3, 3)
        a = a + a.mT
        linalg("ldl_factor", Arg(a))
        linalg("ldl_factor_ex", Arg(a))
        factors, pivots = torch.linalg.ldl_factor(a)
        linalg("ldl_solve", Arg(factors), Arg(pivots), Arg(values(dtype, 3, 2)))
        linalg("eig", Arg(torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=dtype))))
        linalg("eigvals", Arg(torch.diag(torch.tensor([1.0, 2.0, 3.0], dtype=dtype)), **GRAD))
        g.add("adjoint", Arg(values(dtype, 2, 3), **GRAD))


def errors(g):
    a = torch.ones(2, 2, dtype=torch.complex64)
    g.fails("inverse", Arg(torch.zeros_like(a)), message="The diagonal element 1 is zero, the inversion could not be completed")
    g.fails("cholesky", Arg(-torch.eye(2, dtype=torch.complex64)), message="(the leading minor of order 1 is not positive-definite)")
    g.fails("linalg_solve", Arg(a), Arg(a.to(torch.complex128)), run=torch.linalg.solve, via="f", message="to have the same dtype")
    g.fails("adjoint", Arg(torch.ones(3)), message="tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.")
    g.fails("linalg_eig", Arg(torch.full((2, 2), INF)), run=torch.linalg.eig, via="f", message="input tensor should not contain infs or NaNs")


def write(path):
    g = Group()

    def linalg(name, *args, **named):
        g.add("linalg_" + name, *args, run=getattr(torch.linalg, name), via="f", loose=LOOSE, **named)

    for dtype in KINDS:
        square(g, dtype, linalg)
        any_shape(g, dtype, linalg)
        solutions(g, dtype, linalg)
        g.add("adjoint", Arg(values(dtype, 2, 3), **GRAD))
    of_real_numbers(g, linalg)
    errors(g)
    return g.write(path, "Factorizations, inverses and solutions of complex matrices.")
