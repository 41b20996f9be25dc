"""torch.func and torch.autograd.functional: what the transforms give for functions that tests/lua/transforms_spec.lua writes in Lua.

A row is `name = { inputs, results }`, the results being the tensors of the value in the order of its tables.
"""

import torch
import torch.autograd.functional as AF
from torch import func as T
from torch.utils._pytree import tree_leaves

from . import lua

CASES = {}


def case(*shapes, low=-1.0, high=1.0):
    def add(run):
        CASES[run.__name__] = (shapes, low, high, run)
        return run

    return add


def wave(x):
    return (x.sin() * x).sum()


def rows(x):
    return torch.softmax(x, -1) * x.exp()


def two(x, y):
    return x @ y, (x * x).sum(0)


def mlp(p, x):
    return torch.tanh(x @ p["w1"] + p["b1"]) @ p["w2"]


def loss(p, x, y):
    return ((mlp(p, x) - y) ** 2).mean()


def params(w1, b1, w2):
    return {"w1": w1, "b1": b1, "w2": w2}


def ordered(tree):
    """The leaves of a table of parameters in the order of its names, as Lua walks it."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in ordered(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for entry in tree for leaf in ordered(entry)]
    return [tree]


MLP = ((3, 4), (4,), (4, 2), (5, 3), (5, 2))


@case((2, 3))
def grad(x):
    return T.grad(wave)(x)


@case((2, 3))
def grad_of_grad(x):
    return T.grad(lambda v: T.grad(wave)(v).pow(2).sum())(x)


@case((3,), (3,))
def grad_argnums(x, y):
    return T.grad(lambda a, b: (a * b.exp()).sum(), argnums=(1, 0))(x, y)


@case(*MLP)
def grad_of_tables(w1, b1, w2, x, y):
    return ordered(T.grad(loss)(params(w1, b1, w2), x, y))


@case((2, 3))
def grad_and_value(x):
    return T.grad_and_value(lambda v: (wave(v), v * 2), has_aux=True)(x)


@case((2, 3), (3, 2), (2, 2), (3,))
def vjp(x, y, u, v):
    out, f = T.vjp(two, x, y)
    return out, f((u, v))


@case((2, 3), (3, 2), (2, 3), (3, 2))
def jvp(x, y, u, v):
    return T.jvp(two, (x, y), (u, v))


@case((2, 3))
def jacrev(x):
    return T.jacrev(rows)(x)


@case((2, 3), (3, 2))
def jacrev_of_two(x, y):
    return T.jacrev(two, argnums=(0, 1))(x, y)


@case((2, 3), (3, 2))
def jacfwd_of_two(x, y):
    return T.jacfwd(two, argnums=(1, 0))(x, y)


@case((4,))
def hessian(x):
    return T.hessian(lambda v: (v.cumprod(0) * v.sigmoid()).sum())(x)


@case((3,))
def third_derivative(x):
    return T.jacrev(T.jacfwd(T.grad(lambda v: v.prod() * v.exp().sum())))(x)


@case((2, 2))
def linearize(x):
    out, f = T.linearize(rows, x)
    return out, f(torch.ones_like(x)), f(x)


@case((3,), (3,))
def product_of_products(x, u):
    return T.jvp(lambda v: T.jvp(lambda w: w.sin() * w, (v,), (u,))[1], (x,), (u,))


@case((2, 3), (3, 2), (2, 2), (3,))
def functional_vjp(x, y, u, v):
    return AF.vjp(two, (x, y), (u, v))


@case((2, 3), (3, 2), (2, 3), (3, 2))
def functional_jvp(x, y, u, v):
    return AF.jvp(two, (x, y), (u, v))


@case((2, 3), (3, 2))
def functional_jacobian(x, y):
    return AF.jacobian(two, (x, y))


@case((2,), (2,))
def functional_hessian(x, y):
    return AF.hessian(lambda a, b: (a.exp() * b * b).sum(), (x, y))


@case((2,), (2,), (2,), (2,))
def functional_hvp(x, y, u, v):
    return AF.hvp(lambda a, b: (a.exp() * b * b).sum(), (x, y), (u, v))


@case((2,), (2,), (2,), (2,))
def functional_vhp(x, y, u, v):
    return AF.vhp(lambda a, b: (a.exp() * b * b).sum(), (x, y), (u, v))


def sample(x, w):
    return torch.softmax(w @ x, 0) * x.sum()


@case((4, 3), (2, 3))
def vmap(x, w):
    return T.vmap(sample, in_dims=(0, None))(x, w)


@case((3, 4), (4, 2, 3))
def vmap_dims(x, w):
    return T.vmap(sample, in_dims=(1, 0), out_dims=1)(x, w)


@case((4, 3), (5, 2, 3))
def vmap_nested(x, w):
    return T.vmap(T.vmap(sample, in_dims=(0, None)), in_dims=(None, 0))(x, w)


@case((4, 3), (2, 3))
def vmap_of_grad(x, w):
    return T.vmap(T.grad(lambda v, u: sample(v, u).pow(2).sum(), argnums=(0, 1)), in_dims=(0, None))(x, w)


@case((4, 3), (2, 3))
def grad_of_vmap(x, w):
    return T.grad(lambda v, u: T.vmap(sample, in_dims=(0, None))(v, u).pow(2).sum(), argnums=(0, 1))(x, w)


@case((4, 3))
def vmap_of_hessian(x):
    return T.vmap(T.hessian(lambda v: v.prod() * v.exp().sum()))(x)


@case((3,), (4, 3))
def vmap_of_vjp(x, u):
    return T.vmap(T.vjp(lambda v: v.sin() * v.sum(), x)[1])(u)


@case((4, 3), (4, 3))
def vmap_of_jvp(x, u):
    return T.vmap(lambda v, t: T.jvp(rows, (v,), (t,)))(x, u)


@case((6, 2, 5, 5), (3, 2, 3, 3))
def vmap_of_convolutions(x, w):
    image = T.vmap(lambda i: torch.nn.functional.conv2d(i, w, padding=1).relu().amax((1, 2)))
    kernels = T.vmap(T.grad(lambda k, i: torch.nn.functional.conv2d(i, k).pow(2).sum()), in_dims=(None, 0))
    return image(x), kernels(w, x)


def write(path):
    lines = []
    for name, (shapes, low, high, run) in CASES.items():
        inputs = [torch.rand(shape, dtype=torch.float64) * (high - low) + low for shape in shapes]
        results = tree_leaves(run(*inputs))
        fields = ("{" + ",".join(lua.tensor(t) for t in tensors) + "}" for tensors in (inputs, results))
        lines.append(f"{name} = {{inputs={next(fields)},\n  results={next(fields)}}}")
    return lua.write_file(path, "Transforms of functions.", lines)
