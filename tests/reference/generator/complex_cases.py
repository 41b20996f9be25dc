"""Complex numbers: elementwise ops, their dtypes and layouts, sums and products, movements, matrices, parts; derivatives."""

import operator

import torch

from .cases import DTYPES, INF, NAN, Arg, Dim, Dims, Group, Idx, values

KINDS = [torch.complex64, torch.complex128]
GRAD = {"grad": True}
SMOOTH = ["exp", "exp2", "expm1", "log", "log1p", "log2", "log10", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos", "atan",
          "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "square", "reciprocal", "neg", "abs", "angle", "sgn"]
TESTS = ["isnan", "isinf", "isfinite", "isreal", "logical_not"]
ODD = [complex(0, 0), complex(1, 0), complex(0, 1), complex(-1, 0.5), complex(INF, 1), complex(1, -INF), complex(NAN, 1),
       complex(2, NAN), complex(3, 0), complex(-4, 0)]


def odd(dtype):
    return torch.tensor(ODD, dtype=dtype)


def matrix(dtype, *shape):
    return values(dtype, *shape, low=-2.0, high=2.0)


def elementwise(g):
    for dtype in KINDS:
        for op in SMOOTH:
            g.add(op, Arg(values(dtype, 2, 5)), loose=3)
            g.add(op, Arg(values(dtype, 3, 4), "transpose"), loose=3)
            g.add(op, Arg(values(dtype, 3, 8), "step"), loose=3)
            g.add(op, Arg(values(dtype)), loose=3)
            g.add(op, Arg(values(dtype, 0, 3)))
            g.add(op, Arg(values(dtype, 2, 3), **GRAD), loose=20)
        for op in ("conj_physical", "resolve_conj", "resolve_neg"):
            g.add(op, Arg(values(dtype, 2, 3), **GRAD))
        for op in TESTS:
            g.add(op, Arg(odd(dtype)))
        g.add("sgn", Arg(torch.tensor([0j, 2j, 3 - 4j], dtype=dtype), **GRAD))
        g.add("abs", Arg(torch.tensor([0j, 2j, 3 - 4j], dtype=dtype), **GRAD))
        g.add("angle", Arg(torch.tensor([2j, 3 - 4j, -1 + 0j], dtype=dtype), **GRAD))
    for dtype in (torch.float32, torch.float64, torch.int32, torch.bool):
        for op in ("angle", "conj_physical", "isreal"):
            g.add(op, Arg(values(dtype, 2, 4)))
        g.add("real", Arg(values(dtype, 2, 4)), via="f")
        if dtype is not torch.bool:
            g.add("sgn", Arg(values(dtype, 2, 4)))
    for dtype in (torch.complex64, torch.complex128, torch.float32, torch.int32, torch.bool):
        for op in ("cfloat", "cdouble"):
            g.add(op, Arg(values(dtype, 2, 3)), via="m", run=lambda a, op=op: getattr(a, op)())
    for dtype in KINDS:
        z = values(dtype, 4)
        away = z + torch.tensor([0, 1e-9j, 0.5j, 0.5], dtype=dtype)
        g.add("isclose", Arg(z), Arg(away))
        g.add("allclose", Arg(z), Arg(away), atol=1.0)
        g.add("isclose", Arg(odd(dtype)), Arg(odd(dtype)), equal_nan=True)
        for p in (2, 0.5, z):
            g.add("float_power", Arg(values(dtype, 4)), Arg(p) if isinstance(p, torch.Tensor) else p, loose=20)
        for observations in ((4,), (2, 5)):
            g.add("cov", Arg(values(dtype, *observations)), via="f", loose=4)
            g.add("corrcoef", Arg(values(dtype, *observations)), via="f", loose=4)
        g.add("unfold", Arg(values(dtype, 1, 2, 4, 4)), [2, 2], run=torch.nn.functional.unfold, via="F")
        g.add("fold", Arg(values(dtype, 1, 8, 4)), [3, 3], [2, 2], run=torch.nn.functional.fold, via="F", loose=4)
        mask = torch.tensor([[True, False, True], [False, True, True]])
        for op in ("mean", "var", "std", "logsumexp"):
            g.add(op, Arg(values(dtype, 2, 3)), Dim(1), mask=Arg(mask), run=getattr(torch.masked, op), via="M", loose=20)
    g.add("angle", Arg(torch.tensor([1.0, -1.0, NAN, -0.0])))
    g.add("sgn", Arg(values(torch.float64, 3), **GRAD))
    g.add("angle", Arg(values(torch.float64, 3), **GRAD))
    for op, message in (("lt", "not implemented for 'ComplexFloat'"), ("fmod", "not implemented for 'ComplexFloat'"),
                        ("maximum", "maximum not implemented for complex tensors.")):
        g.fails(op, Arg(values(torch.complex64, 2)), Arg(values(torch.complex64, 2)), message=message)
    for op, message in (("erf", "not implemented for 'ComplexFloat'"), ("round", "not implemented for 'ComplexFloat'"),
                        ("floor", "floor is not supported for complex inputs"), ("ceil", "ceil is not supported for complex inputs"),
                        ("trunc", "trunc is not supported for complex inputs"), ("relu", "clamp is not supported for complex types"),
                        ("sign", "Please use torch.sgn instead."), ("bitwise_not", "not implemented for 'ComplexFloat'"),
                        ("max", "not implemented for 'ComplexFloat'"), ("argmax", "argmax(): does not support complex input"),
                        ("sort", "Sort does not support complex dtypes on")):
        g.fails(op, Arg(values(torch.complex64, 2)), message=message)
    g.fails("max", Arg(values(torch.complex64, 2)), Dim(0), message="max(): does not support complex input")
    g.fails("abs_", Arg(values(torch.complex64, 2)), message="In-place abs is not supported for complex tensors.", via="m")
    g.fails("add_", Arg(values(torch.float32, 2)), Arg(values(torch.complex64, 2)), via="m", run=lambda a, b: a.add_(b),
            message="result type ComplexFloat can't be cast to the desired output type Float")

def binary(g):
    for dtype in KINDS:
        for op in ("add", "sub", "mul", "div"):
            g.add(op, Arg(values(dtype, 2, 3)), Arg(values(dtype, 2, 3)))
            g.add(op, Arg(values(dtype, 2, 1)), Arg(values(dtype, 3)))
            g.add(op, Arg(values(dtype, 3, 4), "transpose"), Arg(values(dtype, 4, 3)))
            g.add(op, Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 3), **GRAD))
            g.add(op, Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype.to_real(), 2, 3), **GRAD))
            g.add(op, Arg(values(dtype, 2, 3), **GRAD), 1 - 2j)
            g.add(op, Arg(values(dtype.to_real(), 2, 3), **GRAD), 1 - 2j)
        for op in ("add", "sub"):
            g.add(op, Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 2, 3), **GRAD), alpha=2 - 1j)
            g.add(op, Arg(values(dtype, 2, 3)), Arg(values(dtype, 2, 3)), alpha=2.5)
        for name, call in (("+", operator.add), ("-", operator.sub), ("*", operator.mul), ("/", operator.truediv)):
            g.add(name, Arg(values(dtype, 3)), 2 - 1j, run=call, via="o")
            g.add(name, 2 - 1j, Arg(values(dtype, 3)), run=call, via="o")
            g.add(name, 3, Arg(values(dtype, 3)), run=call, via="o")
        for exponent in (0, 1, 2, 3, 0.5, -1, -2, -0.5, 1.7, 1 + 2j):
            g.add("pow", Arg(values(dtype, 4), **GRAD), exponent, loose=20)
        g.add("pow", Arg(values(dtype, 4), **GRAD), Arg(values(dtype, 4, low=-1.5, high=1.5), **GRAD), loose=40)
        g.add("pow", 2.0, Arg(values(dtype, 4), **GRAD), loose=20, via="f")
        g.add("pow", 1 + 1j, Arg(values(dtype, 4), **GRAD), loose=20, via="f")
        for op in ("eq", "ne", "logical_and", "logical_or", "logical_xor"):
            g.add(op, Arg(odd(dtype)), Arg(odd(dtype).flip(0)))
        g.add("eq", Arg(odd(dtype)), 1j)
        g.add("where", Arg(torch.tensor([True, False, True])), Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 3), **GRAD), via="f")
        g.add("addcmul", Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 3), **GRAD), Arg(values(dtype, 2, 1), **GRAD), value=1 - 1j)
        g.add("addcdiv", Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 3), **GRAD), Arg(values(dtype, 2, 1), **GRAD), value=2)
        g.add("lerp", Arg(values(dtype, 4), **GRAD), Arg(values(dtype, 4), **GRAD), 0.3)
        g.add("lerp", Arg(values(dtype, 4), **GRAD), Arg(values(dtype, 4), **GRAD), Arg(values(dtype, 4), **GRAD))
        g.add("isclose", Arg(odd(dtype)), Arg(odd(dtype)))
        g.add("div", Arg(torch.tensor([1 + 1j, 1e30 + 1e30j], dtype=dtype)), Arg(torch.tensor([0j, 1e30 + 1e30j], dtype=dtype)))
    for a in DTYPES:
        for b in KINDS:
            g.add("add", Arg(values(a, 3)), Arg(values(b, 3)), via="f")
            g.add("mul", Arg(values(b, 3)), Arg(values(a)), via="m")
        if a not in (torch.bfloat16, torch.float16):
            g.add("mul", Arg(values(a, 3)), 2 - 1j)
    g.add("mul", Arg(values(torch.float32, 3)), Arg(values(torch.complex128)))
    g.fails("add", Arg(values(torch.float32, 2)), Arg(values(torch.float32, 2)), alpha=1j,
            message="For non-complex input tensors, argument alpha must not be a complex number.")
    g.fails("div", Arg(values(torch.complex64, 2)), 2, rounding_mode="floor", message="not implemented for 'ComplexFloat'")


def sums(g):
    for dtype in KINDS:
        for op in ("sum", "mean"):
            g.add(op, Arg(values(dtype, 3, 4), **GRAD))
            g.add(op, Arg(values(dtype, 2, 3, 4), **GRAD), Dims(0, 2))
            g.add(op, Arg(values(dtype, 3, 4), "transpose", **GRAD), Dim(1), keepdim=True)
        g.add("sum", Arg(values(dtype, 0, 3)), Dim(0))
        for n in (1, 2, 5, 8):
            g.add("prod", Arg(values(dtype, n, low=0.5, high=2.0), **GRAD), loose=10)
            g.add("prod", Arg(values(dtype, 3, n, low=0.5, high=2.0), **GRAD), Dim(1), loose=10)
            g.add("cumprod", Arg(values(dtype, 2, n, low=0.5, high=2.0), **GRAD), Dim(1), loose=20)
        g.add("prod", Arg(values(dtype, 2, 3, 2)), Dim(1), keepdim=True, loose=10)
        g.add("prod", Arg(values(dtype, 0)))
        g.add("cumsum", Arg(values(dtype, 3, 4), **GRAD), Dim(0))
        g.add("cumsum", Arg(values(dtype, 3, 4), "transpose"), Dim(1))
        for op in ("var", "std"):
            g.add(op, Arg(values(dtype, 3, 4), **GRAD))
            g.add(op, Arg(values(dtype, 3, 4), **GRAD), Dim(1), correction=0, keepdim=True)
        for p in (2, 1, INF):
            g.add("norm", Arg(values(dtype, 3, 4), **GRAD), p, loose=4)
            g.add("norm", Arg(values(dtype, 3, 4), **GRAD), p, Dim(1), loose=4)
        for op in ("any", "all", "count_nonzero"):
            g.add(op, Arg(torch.tensor([[0j, 1j], [0j, 0j]], dtype=dtype)))
            g.add(op, Arg(torch.tensor([[0j, 1j], [0j, 0j]], dtype=dtype)), Dim(1))
        g.add("trace", Arg(values(dtype, 3, 3), **GRAD))
        g.add("logsumexp", Arg(values(dtype, 3, 3), **GRAD), Dim(1), loose=4)


def products(g):
    for dtype in KINDS:
        g.add("mm", Arg(matrix(dtype, 3, 4), **GRAD), Arg(matrix(dtype, 4, 2), **GRAD), loose=4)
        g.add("mm", Arg(matrix(dtype, 4, 3), "transpose"), Arg(matrix(dtype, 2, 4), "transpose"), loose=4)
        g.add("bmm", Arg(matrix(dtype, 2, 3, 4), **GRAD), Arg(matrix(dtype, 2, 4, 2), **GRAD), loose=4)
        g.add("mv", Arg(matrix(dtype, 3, 4), **GRAD), Arg(matrix(dtype, 4), **GRAD), loose=4)
        g.add("dot", Arg(matrix(dtype, 4), **GRAD), Arg(matrix(dtype, 4), **GRAD), loose=4)
        g.add("vdot", Arg(matrix(dtype, 4), **GRAD), Arg(matrix(dtype, 4), **GRAD), loose=4)
        g.add("outer", Arg(matrix(dtype, 4), **GRAD), Arg(matrix(dtype, 3), **GRAD), loose=4)
        g.add("addmm", Arg(matrix(dtype, 2), **GRAD), Arg(matrix(dtype, 3, 4), **GRAD), Arg(matrix(dtype, 4, 2), **GRAD),
              beta=2 - 1j, alpha=1j, loose=4)
        g.add("baddbmm", Arg(matrix(dtype, 2, 3, 2), **GRAD), Arg(matrix(dtype, 2, 3, 4), **GRAD), Arg(matrix(dtype, 2, 4, 2), **GRAD),
              beta=2, alpha=0.5, loose=4)
        g.add("addmv", Arg(matrix(dtype, 3), **GRAD), Arg(matrix(dtype, 3, 4), **GRAD), Arg(matrix(dtype, 4), **GRAD), loose=4)
        g.add("matmul", Arg(matrix(dtype, 2, 1, 3, 4), **GRAD), Arg(matrix(dtype, 5, 4, 2), **GRAD), loose=4)
        g.add("kron", Arg(matrix(dtype, 2, 2)), Arg(matrix(dtype, 1, 3)))
        g.add("mm", Arg(matrix(dtype, 3, 0)), Arg(matrix(dtype, 0, 2)))


def movements(g):
    for dtype in KINDS:
        g.add("cat", [Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 1, 3), **GRAD)], via="f")
        g.add("stack", [Arg(values(dtype, 2, 3), **GRAD), Arg(values(dtype, 2, 3), **GRAD)], Dim(1), via="f")
        g.add("flip", Arg(values(dtype, 2, 3), **GRAD), Dims(0, 1))
        g.add("roll", Arg(values(dtype, 2, 3), **GRAD), 1, Dim(1))
        g.add("index_select", Arg(values(dtype, 3, 4), **GRAD), Dim(1), Idx([3, 0, 0]))
        g.add("gather", Arg(values(dtype, 3, 4), **GRAD), Dim(1), Idx([[3, 0], [1, 1], [2, 3]]))
        g.add("gather", Arg(values(dtype)), Dim(0), Idx(0))
        g.add("scatter", Arg(values(dtype, 3, 4), **GRAD), Dim(1), Idx([[3, 0], [1, 2], [2, 3]]), Arg(values(dtype, 3, 4), **GRAD))
        g.add("scatter", Arg(values(dtype, 3, 4)), Dim(1), Idx([[3, 0], [1, 2], [2, 3]]), 1 - 2j, via="m",
              run=lambda t, d, i, v: t.clone().scatter_(d, i, v))
        g.add("scatter_add", Arg(values(dtype, 3, 4), **GRAD), Dim(1), Idx([[3, 3], [1, 1], [2, 3]]), Arg(values(dtype, 3, 4), **GRAD))
        g.add("index_add", Arg(values(dtype, 3, 4), **GRAD), Dim(0), Idx([2, 2]), Arg(values(dtype, 2, 4), **GRAD))
        g.add("masked_select", Arg(values(dtype, 4), **GRAD), Arg(torch.tensor([True, False, True, True])))
        g.add("masked_fill", Arg(values(dtype, 4), **GRAD), Arg(torch.tensor([True, False, True, True])), 2j)
        g.add("nonzero", Arg(torch.tensor([0j, 1j, 1, 0], dtype=dtype)), index_out=(0,))
        g.add("tril", Arg(values(dtype, 3, 3), **GRAD))
        g.add("diag", Arg(values(dtype, 3), **GRAD))
        g.add("t", Arg(values(dtype, 2, 3), **GRAD))
        g.add("clone", Arg(values(dtype, 2, 3), "transpose", **GRAD))
        g.add("repeat_interleave", Arg(values(dtype, 2, 3), **GRAD), 2, Dim(1))
        g.add("zeros_like", Arg(values(dtype, 2, 3)), via="f")
        g.add("ones_like", Arg(values(dtype, 2, 3)), via="f")
        g.add("full_like", Arg(values(dtype, 2, 3)), 1 - 2j, via="f")


def parts(g):
    for dtype in KINDS:
        part = dtype.to_real()
        for op in ("real", "imag", "view_as_real", "conj"):
            via = "f" if op != "conj" else None
            g.add(op, Arg(values(dtype, 2, 3), **GRAD), via=via, run=lambda t, f=getattr(torch, op): f(t).resolve_conj())
            g.add(op, Arg(values(dtype, 3, 4), "transpose"), via=via, run=lambda t, f=getattr(torch, op): f(t).resolve_conj())
        g.add("view_as_complex", Arg(values(part, 3, 2), **GRAD), via="f")
        g.add("complex", Arg(values(part, 2, 3), **GRAD), Arg(values(part, 3), **GRAD), via="f")
        g.add("polar", Arg(values(part, 2, 3), **GRAD), Arg(values(part, 2, 3), **GRAD), via="f")
        for op in ("is_conj", "is_neg"):
            g.add(op, Arg(values(dtype, 2)))
    g.fails("imag", Arg(values(torch.float32, 2)), message="imag is not implemented for tensors with non-complex dtypes.", via="f")
    g.fails("view_as_complex", Arg(values(torch.float32, 3)), message="Tensor must have a last dimension of size 2", via="f")
    g.fails("view_as_real", Arg(values(torch.float32, 3)), message="view_as_real is only supported for complex tensors", via="f")
    g.fails("complex", Arg(values(torch.float32, 2)), Arg(values(torch.float64, 2)), via="f",
            message="Expected object of scalar type Float but got scalar type Double for second argument")



def later(g):
    """What was found by PyTorch's own samples."""
    F = torch.nn.functional
    for dtype in KINDS:
        far = values(dtype, 3, 4) * 5
        for op, call in (("sinc", torch.sinc), ("silu", F.silu)):
            for layout in (None, "transpose", "step"):
                g.add(op, Arg(values(dtype, 3, 4), layout), via="F" if op == "silu" else None, run=call, loose=10)
            g.add(op, Arg(torch.cat([values(dtype, 3), torch.zeros(1, dtype=dtype)]), **GRAD), via="F" if op == "silu" else None, run=call, loose=40)
        g.add("logaddexp", Arg(far, **GRAD), Arg(values(dtype, 4) * 5, **GRAD), loose=20)
        g.add("logaddexp", Arg(far, "transpose"), Arg(values(dtype, 4, 3)), loose=20)
        g.add("logaddexp", Arg(torch.tensor([-INF, -INF + 1j, INF, NAN], dtype=dtype)), Arg(torch.tensor([-INF, 2 + 1j, INF, 1], dtype=dtype)))
        g.add("logcumsumexp", Arg(values(dtype, 3, 4), **GRAD), Dim(1), loose=40)
        g.add("logcumsumexp", Arg(far, "transpose"), Dim(1), loose=20)
        g.add("logcumsumexp", Arg(values(dtype)), Dim(0))
        g.add("logsumexp", Arg(torch.tensor(1 - 9j, dtype=dtype)), Dim(0), loose=4)
        g.add("logsumexp", Arg(torch.tensor(1 - 9j, dtype=dtype)), via="M", run=torch.masked.logsumexp, loose=4)
        g.add("rms_norm", Arg(values(dtype, 2, 3), **GRAD), [3], Arg(values(dtype, 3), **GRAD), run=F.rms_norm, via="F", eps=0.5, loose=20)
        g.add("rms_norm", Arg(values(dtype, 2, 3, 2), **GRAD), [3, 2], run=F.rms_norm, via="F", loose=20)
        # factors whose real part is 1, or 0
        for beta, alpha in ((1 + 2j, 1 - 1j), (1j, 2 + 3j)):
            g.add("addmm", Arg(matrix(dtype, 3, 2), **GRAD), Arg(matrix(dtype, 3, 4), **GRAD), Arg(matrix(dtype, 4, 2), **GRAD), beta=beta, alpha=alpha, loose=4)
            for op in ("baddbmm", "addbmm"):
                g.add(op, Arg(matrix(dtype, 3, 2), **GRAD), Arg(matrix(dtype, 2, 3, 4), **GRAD), Arg(matrix(dtype, 2, 4, 2), **GRAD), beta=beta, alpha=alpha, loose=4)
            g.add("addmv", Arg(matrix(dtype, 3), **GRAD), Arg(matrix(dtype, 3, 4), **GRAD), Arg(matrix(dtype, 4), **GRAD), beta=beta, alpha=alpha, loose=4)
            g.add("addr", Arg(matrix(dtype, 3), **GRAD), Arg(matrix(dtype, 2), **GRAD), Arg(matrix(dtype, 3), **GRAD), beta=beta, alpha=alpha, loose=4)
            g.add("index_add", Arg(values(dtype, 3, 4), **GRAD), Dim(0), Idx([2, 2]), Arg(values(dtype, 2, 4), **GRAD), alpha=beta)
        for groups in (1, 2):
            image, image2, volume = values(dtype, 2, 4, 7), values(dtype, 2, 4, 6, 5), values(dtype, 1, 4, 4, 3, 3)
            g.add("conv1d", Arg(image, **GRAD), Arg(values(dtype, 6, 4 // groups, 3), **GRAD), Arg(values(dtype, 6), **GRAD), run=F.conv1d, via="F", stride=2,
                  padding=1, groups=groups, loose=20)
            g.add("conv2d", Arg(image2, **GRAD), Arg(values(dtype, 2, 4 // groups, 3, 2), **GRAD), run=F.conv2d, via="F", dilation=2, padding=[2, 1], groups=groups,
                  loose=20)
            g.add("conv3d", Arg(volume, **GRAD), Arg(values(dtype, 2, 4 // groups, 2, 2, 2), **GRAD), run=F.conv3d, via="F", groups=groups, loose=20)
            g.add("conv_transpose1d", Arg(image, **GRAD), Arg(values(dtype, 4, 3, 3), **GRAD), Arg(values(dtype, 3 * groups), **GRAD), run=F.conv_transpose1d, via="F",
                  stride=2, padding=1, output_padding=1, groups=groups, loose=20)
            g.add("conv_transpose2d", Arg(image2, **GRAD), Arg(values(dtype, 4, 3, 2, 2), **GRAD), run=F.conv_transpose2d, via="F", groups=groups, loose=20)
        z = torch.stft(values(dtype.to_real(), 2, 40), 8, window=torch.ones(8, dtype=dtype.to_real()), onesided=False, return_complex=True)
        g.add("istft", Arg((z + values(dtype, *z.shape)).contiguous(), **GRAD), 8, window=Arg(torch.ones(8, dtype=dtype.to_real())), onesided=False, loose=20)
    for dtype in (torch.complex64, torch.complex128, torch.float32, torch.float64, torch.int32, torch.bool):
        g.add("chalf", Arg(values(dtype, 2, 3)), via="m", run=lambda a: a.chalf())


def write(path):
    g = Group()
    for part in (elementwise, binary, sums, products, movements, parts, later):
        part(g)
    g.write(path, "Complex numbers.")
    return len(g.rows)
