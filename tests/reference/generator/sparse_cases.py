"""Sparse tensors: each case is an expression in Python and in Lua over the same inputs, with what comes out as an ordinary tensor, its
layout, and the gradients of a weighted sum by the inputs, ordinary as well."""

import warnings

import torch

from . import lua

warnings.filterwarnings("ignore", message="Sparse")
COO, CSR, CSC = torch.sparse_coo, torch.sparse_csr, torch.sparse_csc
KEEPS_ZERO = """abs neg sgn sign sqrt sin tan sinh tanh asin asinh atan atanh erf erfinv expm1 log1p floor ceil round trunc relu frac isnan
    isinf""".split()


def pattern(generator, *size, dense=(), dtype=torch.float64, density=0.4, layout=COO, coalesced=True):
    """A sparse tensor whose values lie between -0.9 and 0.9, none of them 0."""
    values = (torch.rand(*size, *dense, generator=generator, dtype=torch.float64) * 0.8 + 0.1) * (1 - 2 * (torch.rand(*size, *dense, generator=generator) < 0.5))
    kept = torch.rand(*size, generator=generator) < density
    kept.reshape(-1)[0] = True
    values = values * kept.reshape(*size, *[1] * len(dense))
    if dtype.is_complex:
        values = torch.complex(values, values.flip(-1) * kept)
    x = values.to(dtype).to_sparse(len(size))
    if not coalesced:
        x = torch.sparse_coo_tensor(torch.cat([x.indices().flip(1), x.indices()], 1), torch.cat([x.values().flip(0), x.values() * 0.5]), x.shape)
    return x if layout == COO else x.to_sparse(layout=layout)


def spelled(t, grad):
    """A tensor of any layout as Lua."""
    layout = str(t.layout)
    extra = {"grad": "true"} if grad else {}
    if t.layout == torch.strided:
        return lua.tensor(t, **extra)
    if t.layout == COO:
        parts, values = {"indices": t._indices()}, t._values()
    elif t.layout == CSR:
        parts, values = {"compressed": t.crow_indices(), "plain": t.col_indices()}, t.values()
    else:
        parts, values = {"compressed": t.ccol_indices(), "plain": t.row_indices()}, t.values()
    fields = [f"layout='{layout}'", f"size={lua.items(t.shape)}", f"values={lua.tensor(values)}"]
    fields += [f"{name}={lua.tensor(part + 1)}" for name, part in parts.items()]
    fields += [f"{name}={text}" for name, text in extra.items()]
    return "{" + ",".join(fields) + "}"


def dense(t):
    return t if t.layout == torch.strided else t.detach().to_dense()


class Cases:
    def __init__(self):
        self.rows = []

    def add(self, python, in_lua=None, grads=(), layouts=True, **inputs):
        """grads: names of the inputs that are differentiated. layouts: whether the result's layout is promised."""
        in_lua = in_lua or python
        leaves = {name: t.detach().clone().requires_grad_() if name in grads else t for name, t in inputs.items()}
        given = dict(leaves)
        try:
            out = eval(python, {"torch": torch, "F": torch.nn.functional}, given)
        except (RuntimeError, NotImplementedError):  # what PyTorch has not for this layout it has for ordinary tensors
            out, layouts = eval(python, {"torch": torch, "F": torch.nn.functional}, {n: dense(t) for n, t in leaves.items()}), False
        fields = [f"lua={lua.string(in_lua)}", "inputs={" + ",".join(f"{n}={spelled(t.detach(), n in grads)}" for n, t in leaves.items()) + "}",
                  f"out={lua.tensor(dense(out))}"]
        if layouts:
            fields.append(f"layout='{out.layout}'")
        if grads:
            full = out.to_dense() if out.layout != torch.strided else out
            weights = torch.arange(full.numel(), dtype=torch.float64).mul(7).remainder(5).sub(1.5).reshape(full.shape).to(full.dtype)
            found = torch.autograd.grad((full * weights).sum(), [leaves[n] for n in grads])
            # Here a sparse tensor's gradient has its places alone; PyTorch's sometimes has others as well.
            found = [g if leaves[n].layout == torch.strided else dense(g) * (dense(leaves[n].detach()) != 0) for n, g in zip(grads, found)]
            fields.append("grads={" + ",".join(f"{n}={lua.tensor(dense(g))}" for n, g in zip(grads, found)) + "}")
        self.rows.append("{" + ",".join(fields) + "}")


def elementwise(c, g):
    for op in KEEPS_ZERO:
        for layout in (COO, CSR):
            x = pattern(g, 3, 4, layout=layout)
            if op in ("sqrt", "log1p"):
                x = torch.abs(x)
            c.add(f"torch.{op}(x)", x=x)
    c.add("torch.sin(x)", x=pattern(g, 3, 4, coalesced=False))
    for layout in (COO, CSR):
        for dtype in (torch.float32, torch.float64, torch.complex128):
            x, y = pattern(g, 4, 5, dtype=dtype, layout=layout), pattern(g, 4, 5, dtype=dtype, layout=layout)
            d = dense(pattern(g, 4, 5, dtype=dtype))
            grads = ("x", "y") if layout == COO and not dtype.is_complex else ()
            c.add("x + y", x=x, y=y, grads=grads)
            c.add("x - y", x=x, y=y, grads=grads)
            c.add("torch.add(x, y, alpha=3)", "torch.add(x, y, {alpha = 3})", x=x, y=y, grads=grads)
            c.add("x * y", x=x, y=y, grads=grads)
            c.add("x * 3", x=x)
            c.add("3 * x", x=x)
            c.add("x / 4", x=x)
            c.add("d + x", x=x, d=d)
            c.add("d - x", x=x, d=d)
            c.add("-x", x=x)
    x, d = pattern(g, 4, 5), dense(pattern(g, 4, 5, density=0.9))
    c.add("x * d", x=x, d=d)
    c.add("x.pow(2)", "x:pow(2)", x=x)
    c.add("x + y", x=pattern(g, 4, 5, coalesced=False), y=pattern(g, 4, 5, coalesced=False))
    c.add("x * y", x=pattern(g, 4, 5, coalesced=False), y=pattern(g, 4, 5, coalesced=False))
    c.add("x + y", x=pattern(g, 3, 4, dense=(2,)), y=pattern(g, 3, 4, dense=(2,)))
    c.add("x * y", x=pattern(g, 3, 4, dense=(2,)), y=pattern(g, 3, 4, dense=(2,)))
    c.add("x + y", x=pattern(g, 4, 5).float(), y=pattern(g, 4, 5))
    c.add("d.clone().add_(x, alpha=2)", "d:clone():add_(x, {alpha = 2})", x=pattern(g, 4, 5, coalesced=False), d=d)
    c.add("d.clone().sub_(x)", "d:clone():sub_(x)", x=pattern(g, 4, dense=(5,)), d=d)
    c.add("x.clone().mul_(2)", "x:clone():mul_(2)", x=pattern(g, 4, 5))
    c.add("x.clone().add_(y)", "x:clone():add_(y)", x=pattern(g, 4, 5), y=pattern(g, 4, 5))
    c.add("x.clone().zero_()", "x:clone():zero_()", x=pattern(g, 4, 5))
    c.add("torch.zeros_like(x)", x=pattern(g, 4, 5))


def layouts(c, g):
    for size, dense_sizes in (((5,), ()), ((3, 4), ()), ((3, 4), (2,)), ((2, 3, 4), ()), ((2, 3), (2, 2)), ((2, 2, 3, 2), ())):
        for coalesced in (True, False):
            x = pattern(g, *size, dense=dense_sizes, coalesced=coalesced)
            c.add("x.to_dense()", "x:to_dense()", x=x, grads=("x",))
            c.add("x.coalesce()", "x:coalesce()", x=x, grads=("x",) if coalesced else ())
            c.add("x.coalesce().values()", "x:coalesce():values()", x=x)
            c.add("x.coalesce().indices()", "x:coalesce():indices() - 1", x=x)
        d = dense(pattern(g, *size, dense=dense_sizes))
        c.add("d.to_sparse()", "d:to_sparse()", d=d, grads=("d",))
        c.add("d.to_sparse().indices()", "d:to_sparse():indices() - 1", d=d)
        c.add("d.to_sparse(1)", "d:to_sparse(1)", d=d)
    d = dense(pattern(g, 4, 5))
    for name, first, second in (("csr", "crow_indices", "col_indices"), ("csc", "ccol_indices", "row_indices")):
        c.add(f"d.to_sparse_{name}()", f"d:to_sparse_{name}()", d=d)
        for part in (first, second):
            c.add(f"d.to_sparse_{name}().{part}()", f"d:to_sparse_{name}():{part}() - 1", d=d)
        c.add(f"d.to_sparse_{name}().values()", f"d:to_sparse_{name}():values()", d=d)
    for a in (COO, CSR, CSC):
        x = pattern(g, 4, 5, layout=a)
        c.add("x.to_dense()", "x:to_dense()", x=x)
        for b in (COO, CSR, CSC):
            c.add(f"x.to_sparse(layout={b})", f"x:to_sparse{{layout = {b}}}", x=x)
        c.add("x.float()", "x:float()", x=x)
        c.add("x.t()", "x:t()", x=x)
        c.add("x.sum()", "x:sum()", x=x, grads=("x",) if a == COO else ())
    x = pattern(g, 4, 5)
    c.add("d.sparse_mask(x)", "d:sparse_mask(x)", x=x, d=dense(pattern(g, 4, 5)), grads=("d",))
    c.add("y.sparse_mask(x)", "y:sparse_mask(x)", x=x, y=pattern(g, 4, 5))
    c.add("d.sparse_mask(x)", "d:sparse_mask(x)", x=pattern(g, 4, 5, layout=CSR), d=dense(pattern(g, 4, 5)))
    c.add("d.sparse_mask(x)", "d:sparse_mask(x)", x=pattern(g, 4, dense=(3,)), d=dense(pattern(g, 4, 3)))


def shapes(c, g):
    x = pattern(g, 3, 4, 2)
    c.add("x.transpose(0, 2)", "x:transpose(1, 3)", x=x, grads=("x",))
    c.add("x.permute(2, 0, 1)", "x:permute(3, 1, 2)", x=x)
    c.add("x.unsqueeze(1)", "x:unsqueeze(2)", x=x)
    c.add("x.unsqueeze(-1)", "x:unsqueeze(-1)", x=pattern(g, 3, dense=(2,)))
    c.add("x[1]", "x[2]", x=x)
    c.add("x.select(1, 2)", "x:select(2, 3)", x=x)
    c.add("x.select(2, 1)", "x:select(3, 2)", x=pattern(g, 3, 4, dense=(2,)))
    c.add("x.index_select(0, i)", "x:index_select(1, i + 1)", x=x, i=torch.tensor([2, 0, 2]))
    c.add("x.index_select(1, i)", "x:index_select(2, i + 1)", x=pattern(g, 3, 4, dense=(2,), coalesced=False), i=torch.tensor([3, 1]))
    c.add("x.index_select(2, i)", "x:index_select(3, i + 1)", x=pattern(g, 3, 4, dense=(2,)), i=torch.tensor([1, 1, 0]))
    c.add("x.narrow_copy(1, 1, 2)", "x:narrow(2, 2, 2)", x=x)
    c.add("torch.cat([x, y], 1)", "torch.cat({x, y}, 2)", x=x, y=pattern(g, 3, 2, 2))
    c.add("torch.cat([x, y], 0)", "torch.cat({x, y}, 1)", x=pattern(g, 3, dense=(2,)), y=pattern(g, 4, dense=(2,)))
    for layout in (COO, CSR):
        c.add("x[1]", "x[2]", x=pattern(g, 4, 5, layout=layout), layouts=False)
    for dims, in_lua in (((0,), "1"), ((1,), "2"), ((0, 1), "{1, 2}"), ((2,), "3"), ((0, 2), "{1, 3}"), ((0, 1, 2), "{1, 2, 3}")):
        for x in (pattern(g, 3, 4, 2), pattern(g, 3, 4, dense=(2,)), pattern(g, 3, 4, 2, coalesced=False)):
            c.add(f"torch.sparse.sum(x, {dims})", f"torch.sparse.sum(x, {in_lua})", x=x, layouts=False, grads=("x",) if x.is_coalesced() else ())
    for dim in (0, 1, 2):
        for op in ("softmax", "log_softmax"):
            c.add(f"torch.sparse.{op}(x, {dim})", f"torch.sparse.{op}(x, {dim + 1})", x=pattern(g, 3, 4, 2), grads=("x",))
            c.add(f"torch.sparse.{op}(x, {dim})", f"torch.sparse.{op}(x, {dim + 1})", x=pattern(g, 3, 4, dense=(2,)), grads=("x",))
    c.add("torch.sparse.spdiags(d, o, (4, 5))", "torch.sparse.spdiags(d, o, {4, 5})", d=torch.arange(1.0, 13).reshape(3, 4), o=torch.tensor([0, -1, 2]))


def products(c, g):
    for layout in (COO, CSR, CSC):
        for dtype in (torch.float32, torch.float64, torch.complex128):
            x = pattern(g, 4, 5, dtype=dtype, layout=layout)
            d, v, b = dense(pattern(g, 5, 3, dtype=dtype)), dense(pattern(g, 5, dtype=dtype)), dense(pattern(g, 4, 3, dtype=dtype))
            grads = ("x", "d") if layout == COO and not dtype.is_complex else ()
            c.add("torch.sparse.mm(x, d)", x=x, d=d, grads=grads)
            c.add("x @ d" if layout != CSC else "x.to_dense() @ d", "x:matmul(d)", x=x, d=d)
            c.add("torch.mv(x, v)" if layout != CSC else "x.to_dense() @ v", "torch.mv(x, v)", x=x, v=v)
            c.add("torch.sparse.addmm(b, x, d, beta=0.5, alpha=2)", "torch.sparse.addmm(b, x, d, {beta = 0.5, alpha = 2})", x=x, d=d, b=b,
                  grads=("b", "x", "d") if grads else ())
    for layout in (COO, CSR):
        x, y = pattern(g, 4, 5, layout=layout), pattern(g, 5, 6, layout=layout)
        c.add("torch.sparse.mm(x, y)", x=x, y=y, grads=("x", "y") if layout == COO else ())
        c.add("d @ x", "torch.mm(d, x)", x=x, d=dense(pattern(g, 3, 4)))
    c.add("torch.bmm(x, d)", x=pattern(g, 2, 3, 4), d=dense(pattern(g, 2, 4, 2)))
    for reduce in ("sum", "mean", "amax", "amin"):
        x = pattern(g, 5, 4, layout=CSR)
        c.add(f"torch.sparse.mm(x, d, '{reduce}')", x=x, d=dense(pattern(g, 4, 3)))
    for layout in (COO, CSR):
        d, e = dense(pattern(g, 4, 3)), dense(pattern(g, 3, 5))
        x = pattern(g, 4, 5, layout=CSR)
        c.add("torch.sparse.sampled_addmm(x, d, e, beta=0.5, alpha=2)", "torch.sparse.sampled_addmm(x, d, e, {beta = 0.5, alpha = 2})", x=x, d=d, e=e,
              grads=("x", "d", "e"))


def embeddings(c, g):
    w = dense(pattern(g, 5, 3, density=1.0))
    i = torch.tensor([[1, 4, 1], [0, 2, 4]])
    c.add("F.embedding(i, w, sparse=True)", "F.embedding(i + 1, w, {sparse = true})", i=i, w=w, grads=("w",))
    c.add("F.embedding(i, w, padding_idx=1, sparse=True)", "F.embedding(i + 1, w, {padding_idx = 2, sparse = true})", i=i, w=w, grads=("w",))
    for mode in ("sum", "mean"):
        c.add(f"F.embedding_bag(i, w, mode='{mode}', sparse=True)", f"F.embedding_bag(i + 1, w, {{mode = '{mode}', sparse = true}})", i=i, w=w, grads=("w",))


def write(path):
    c, g = Cases(), torch.Generator().manual_seed(5)
    for group in (elementwise, layouts, shapes, products, embeddings):
        group(c, g)
    return lua.write_file(path, "Expressions of sparse tensors.", c.rows)
