"""PyTorch's side of make bench: the rows of layers.lua, name TAB unit TAB value."""

import torch
import torch.nn.functional as F
from measure import measure as time

rand, randn, grad = torch.rand, torch.randn, torch.autograd.grad


def measure(name, f):
    time(f"large: {name}", f)


def backward(name, y, inputs):
    g = torch.ones_like(y)
    measure(name, lambda: grad(y, inputs, g, retain_graph=True))


def lines():
    for shape in ((10000, 100), (100000, 10)):
        x, i, size = rand(shape), torch.randint(0, 100, shape), f"{shape[0]}x{shape[1]}"
        for dim in (0, 1):
            for name in ("sum", "amax", "argmax", "max", "mean", "var", "norm", "prod", "softmax", "cumsum", "logsumexp"):
                f = getattr(torch, name)
                measure(f"{name} along {dim + 1}, {size}", (lambda: f(x, 2, dim)) if name == "norm" else (lambda: f(x, dim)))
            measure(f"sum of int64 along {dim + 1}, {size}", lambda: i.sum(dim))
        measure(f"layer_norm, {size}", lambda: F.layer_norm(x, (shape[1],)))
        measure(f"batch_norm, {size}", lambda: F.batch_norm(x, None, None, training=True))
        measure(f"sort along 2, {size}", lambda: x.sort(1))
        measure(f"topk 5 along 2, {size}", lambda: x.topk(5, 1))
    i = torch.randint(0, 100, (4000000,))
    measure("sum of int64, 4000000", lambda: i.sum())
    b = i.to(torch.uint8)
    measure("sum of uint8, 4000000", lambda: b.sum())


def joined():
    x, y = rand(1000, 1000), rand(1000, 1000)
    measure("cat of rows, 1000x1000", lambda: torch.cat((x, y), 0))
    measure("stack, 1000x1000", lambda: torch.stack((x, y), 0))
    measure("stack as last, 1000x1000", lambda: torch.stack((x, y), 2))
    m = x > 0.5
    measure("masked_select, 1000x1000", lambda: x.masked_select(m))
    measure("where of a number, 1000x1000", lambda: torch.where(m, x, 0))
    row = rand(1000)
    measure("matrix + row, 1000x1000", lambda: x + row)
    measure("matrix + column, 1000x1000", lambda: x + row.unsqueeze(1))
    wide = rand(1000, 1).expand(1000, 1000)
    measure("expanded times a number, 1000x1000", lambda: wide * 2)
    classes = torch.randint(0, 100, (100000,))
    measure("one_hot, 100000 of 100", lambda: F.one_hot(classes, 100))
    a, b = rand(16, 128, 128), rand(16, 128, 128)
    measure("einsum bij,bjk->bik, 16x128x128", lambda: torch.einsum("bij,bjk->bik", a, b))
    c, d = rand(500, 500), rand(500, 500)
    measure("einsum ij,kj->ik, 500x500", lambda: torch.einsum("ij,kj->ik", c, d))
    index, values = torch.randint(0, 1000, (100000,)), rand(100000)
    measure("scatter_add, 100000 to 1000", lambda: torch.zeros(1000).scatter_add(0, index, values))
    measure("index_add, 100000 to 1000", lambda: torch.zeros(1000).index_add(0, index, values))
    measure("bincount with weights, 100000", lambda: index.bincount(values))
    table = rand(10000, 64, requires_grad=True)
    words = torch.randint(0, 10000, (20000,))
    backward("embedding backward, 20000 of 10000x64", F.embedding(words, table), (table,))
    t = rand(2000, 2000).double().t()
    measure("x.T.contiguous, float64, 2000x2000", lambda: t.contiguous())


def doubles():
    d = rand(1000000).double()
    for name in ("erf", "erfinv", "exp", "log", "tanh", "sin", "lgamma", "digamma", "sigmoid", "log1p", "expm1", "erfc"):
        f = getattr(torch, name)
        measure(f"{name} of float64, 1000000", lambda: f(d))
    measure("gelu of float64, 1000000", lambda: F.gelu(d))
    measure("pow of float64, 1000000", lambda: d**2.5)
    x = rand(1000000)
    for name in (
        "lgamma", "digamma", "erfc", "log1p", "expm1", "atan", "asin", "acos", "cosh", "sinh", "log2", "exp2", "logit", "reciprocal",
        "round", "frac", "sign", "square",
    ):  # fmt: skip
        f = getattr(torch, name)
        measure(f"{name}, 1000000", lambda: f(x))
    y = randn(1000000)
    for name in ("softplus", "elu", "leaky_relu", "mish", "logsigmoid", "hardtanh", "selu"):
        f = getattr(F, name)
        measure(f"{name}, 1000000", lambda: f(y))
    measure("remainder, 1000000", lambda: x % 0.3)
    measure("lerp, 1000000", lambda: x.lerp(x, 0.3))
    i, j = torch.randint(1, 1000, (1000000,)), torch.randint(1, 1000, (1000000,))
    measure("mul of int64, 1000000", lambda: i * j)
    measure("floor_divide of int64, 1000000", lambda: i // j)
    measure("remainder of int64, 1000000", lambda: i % j)
    measure("eq of int64, 1000000", lambda: i.eq(j))
    z = torch.complex(x, x)
    measure("mul of complex64, 1000000", lambda: z * z)
    measure("abs of complex64, 1000000", lambda: z.abs())


def images():
    x = rand(4, 3, 256, 256)
    for mode in ("nearest", "bilinear", "bicubic", "area"):
        for scale in (2, 0.5):
            name = f"interpolate {mode} by {scale}, 4x3x256x256"
            measure(name, lambda: F.interpolate(x, scale_factor=scale, mode=mode))
            xg = x.clone().requires_grad_()
            backward(f"{name} backward", F.interpolate(xg, scale_factor=scale, mode=mode), (xg,))
    last = x.to(memory_format=torch.channels_last)
    measure("interpolate bilinear by 2, channels_last", lambda: F.interpolate(last, scale_factor=2, mode="bilinear"))
    measure(
        "interpolate antialiased to 100, 4x3x256x256",
        lambda: F.interpolate(x, size=(100, 100), mode="bilinear", antialias=True),
    )
    at = rand(4, 256, 256, 2) * 2 - 1
    for mode in ("bilinear", "nearest", "bicubic"):
        measure(f"grid_sample {mode}, 4x3x256x256", lambda: F.grid_sample(x, at, mode=mode, align_corners=False))
    xg = x.clone().requires_grad_()
    backward("grid_sample bilinear backward, 4x3x256x256", F.grid_sample(xg, at, align_corners=False), (xg,))
    p = rand(8, 64, 64, 64)
    measure("pixel_shuffle, 8x64x64x64", lambda: F.pixel_shuffle(p, 2))
    y = rand(16, 32, 56, 56)
    yg = y.clone().requires_grad_()
    measure("max_pool2d 2, 16x32x56x56", lambda: F.max_pool2d(y, 2))
    backward("max_pool2d 2 backward, 16x32x56x56", F.max_pool2d(yg, 2), (yg,))
    measure("max_pool2d 3 stride 2, 16x32x56x56", lambda: F.max_pool2d(y, 3, stride=2, padding=1))
    measure("avg_pool2d 2, 16x32x56x56", lambda: F.avg_pool2d(y, 2))
    backward("avg_pool2d 2 backward, 16x32x56x56", F.avg_pool2d(yg, 2), (yg,))
    measure("adaptive_avg_pool2d 1, 16x32x56x56", lambda: F.adaptive_avg_pool2d(y, 1))
    long = rand(8, 16, 20000)
    measure("max_pool1d 3 stride 1, 8x16x20000", lambda: F.max_pool1d(long, 3, stride=1))
    measure("max_pool1d 2, 8x16x20000", lambda: F.max_pool1d(long, 2))
    measure("avg_pool1d 3 stride 1, 8x16x20000", lambda: F.avg_pool1d(long, 3, stride=1))
    measure("pad reflect, 16x32x56x56", lambda: F.pad(y, (1, 1, 1, 1), mode="reflect"))
    measure("pad, 16x32x56x56", lambda: F.pad(y, (1, 1, 1, 1)))
    measure("unfold 3, 4x3x256x256", lambda: F.unfold(x, 3))
    measure("batch_norm, 16x32x56x56", lambda: F.batch_norm(y, None, None, training=True))
    backward("batch_norm backward, 16x32x56x56", F.batch_norm(yg, None, None, training=True), (yg,))
    measure("group_norm 8, 16x32x56x56", lambda: F.group_norm(y, 8))
    measure("flip, 16x32x56x56", lambda: y.flip(3))
    measure("roll, 16x32x56x56", lambda: y.roll(5, 3))


def convolutions():
    x, w = rand(8, 16, 2000), rand(32, 16, 5)
    measure("conv1d, 8x16x2000, 32 of 5", lambda: F.conv1d(x, w))
    y, v = rand(8, 64, 28, 28), rand(64, 32, 4, 4)
    measure("conv_transpose2d, 8x64x28x28, 32 of 4x4, stride 2", lambda: F.conv_transpose2d(y, v, stride=2, padding=1))
    d = rand(64, 1, 3, 3)
    measure("conv2d depthwise, 8x64x28x28, 3x3", lambda: F.conv2d(y, d, padding=1, groups=64))


def dense():
    for rows in (1, 8, 32, 64):
        x, w, b = rand(rows, 256), rand(1024, 256), rand(1024)
        measure(f"linear, {rows} of 256 to 1024", lambda: F.linear(x, w, b))
        y, v = rand(rows, 1024), rand(256, 1024)
        measure(f"linear, {rows} of 1024 to 256", lambda: F.linear(y, v))
    for n in (32, 64, 128, 200, 256):
        a, b = rand(n, n), rand(n, n)
        measure(f"mm, {n}x{n}", lambda: a.mm(b))
    a, b = rand(100, 100).double(), rand(100, 100).double()
    measure("mm of float64, 100x100", lambda: a.mm(b))
    c, e = rand(64, 64, 64), rand(64, 64, 64)
    measure("bmm, 64x64x64", lambda: c.bmm(e))
    f, g = rand(512, 8, 8), rand(512, 8, 8)
    measure("bmm, 512x8x8", lambda: f.bmm(g))
    points, centres = rand(20000, 32), rand(64, 32)
    measure("cdist, 20000 and 64 of 32", lambda: torch.cdist(points, centres))
    measure("cdist of p = 1, 20000 and 64 of 32", lambda: torch.cdist(points, centres, 1))
    few = rand(20, 32)
    measure("cdist, 20 and 20 of 32", lambda: torch.cdist(few, few))
    q = randn(4, 8, 256, 64)
    measure("attention, 4x8x256x64", lambda: F.scaled_dot_product_attention(q, q, q))
    measure("attention, causal, 4x8x256x64", lambda: F.scaled_dot_product_attention(q, q, q, is_causal=True))
    h = rand(500, 500).bfloat16()
    measure("mm of bfloat16, 500x500", lambda: h.mm(h))


def recurrent():
    for batch, width, steps in ((32, 128, 35), (4, 256, 35)):
        for kind in ("LSTM", "GRU", "RNN"):
            layer = getattr(torch.nn, kind)(width, width)
            x = randn(steps, batch, width)

            def forward():
                with torch.no_grad():
                    layer(x)

            def both():
                layer.zero_grad()
                layer(x)[0].sum().backward()

            measure(f"{kind}, {steps} steps of {batch}x{width}", forward)
            measure(f"{kind} and backward, {steps} steps of {batch}x{width}", both)


def losses():
    x, target = randn(4096, 1000), torch.randint(0, 1000, (4096,))
    measure("cross_entropy, 4096x1000", lambda: F.cross_entropy(x, target))
    xg = x.clone().requires_grad_()
    backward("cross_entropy backward, 4096x1000", F.cross_entropy(xg, target), (xg,))
    few, labels = randn(10000, 10), torch.randint(0, 10, (10000,))
    measure("cross_entropy, 10000x10", lambda: F.cross_entropy(few, labels))
    a, b = rand(1000000), rand(1000000)
    measure("mse_loss, 1000000", lambda: F.mse_loss(a, b))
    measure("binary_cross_entropy, 1000000", lambda: F.binary_cross_entropy(a, b))
    measure("binary_cross_entropy_with_logits, 1000000", lambda: F.binary_cross_entropy_with_logits(a, b))
    measure("smooth_l1_loss, 1000000", lambda: F.smooth_l1_loss(a, b))
    measure("kl_div, 1000000", lambda: F.kl_div(a, b, reduction="batchmean"))


def draws():
    x = rand(1000000)
    measure("rand, 1000000", lambda: torch.rand(1000000))
    measure("randn, 1000000", lambda: torch.randn(1000000))
    measure("randint, 1000000", lambda: torch.randint(0, 100, (1000000,)))
    measure("randperm, 1000000", lambda: torch.randperm(1000000))
    measure("bernoulli, 1000000", lambda: torch.bernoulli(x))
    measure("dropout, 1000000", lambda: F.dropout(x, 0.5))
    measure("exponential_, 1000000", lambda: x.clone().exponential_())
    p = rand(1000)
    measure("multinomial, 1000 of 1000", lambda: p.multinomial(1000, True))
    measure("arange, 1000000", lambda: torch.arange(1000000))
    measure("linspace, 1000000", lambda: torch.linspace(0, 1, 1000000))
    measure("eye, 1000", lambda: torch.eye(1000))
    y = rand(1000, 1000)
    measure("tril, 1000x1000", lambda: y.tril())
    measure("triu_indices, 500", lambda: torch.triu_indices(500, 500))
    measure("histc, 1000000", lambda: x.histc(100, 0, 1))
    measure("quantile, 1000000", lambda: x.quantile(0.3))
    measure("cumprod, 1000000", lambda: x.cumprod(0))
    d = x.double()
    measure("cumsum of float64, 1000000", lambda: d.cumsum(0))
    measure("diff, 1000000", lambda: x.diff())
    r = rand(100000)
    measure("repeat_interleave, 100000 by 10", lambda: r.repeat_interleave(10))
    m = rand(1000)
    measure("meshgrid and sum, 1000", lambda: m.unsqueeze(1) + m.unsqueeze(0))


lines()
joined()
doubles()
images()
convolutions()
dense()
recurrent()
losses()
draws()
