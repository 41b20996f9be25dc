"""The modules that exported.py exports, in sets: of this file, of torch.nn, of PyTorch's operators, and of packages."""
import collections
import contextlib
import importlib
import re
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree


class Case:
    """make() gives (module, args, kwargs, options of torch.export.export). with_inputs: the gradients of the inputs are compared too.
    is_random: the values are not compared, since they are drawn. forms: the forms that ltensor can load."""

    def __init__(self, name, make, with_inputs=False, is_random=False, forms=("exported", "decomposed")):
        self.name, self.make, self.with_inputs, self.is_random, self.forms = name, make, with_inputs, is_random, forms


# ---- of this file: structures of programs ----


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.norm, self.last = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.Linear(72, 10)
        self.more = nn.Sequential(nn.InstanceNorm2d(8), nn.ReLU6(), nn.MaxPool2d(2), nn.GroupNorm(2, 8), nn.ConvTranspose2d(8, 8, 2, 2),
                                  nn.Upsample(scale_factor=2), nn.AdaptiveAvgPool2d(4), nn.AvgPool2d(2, 1), nn.Flatten())

    def forward(self, x):
        return F.log_softmax(self.last(self.more(torch.relu(self.norm(self.first(x))))), -1)


class Words(nn.Module):
    """With sizes that vary, lists and dicts, a tensor of its own, and a write into a view."""

    def __init__(self):
        super().__init__()
        self.embedding, self.norm, self.own = nn.Embedding(11, 8), nn.LayerNorm(8), torch.tensor([1.0, 2.0])

    def forward(self, words, extra):
        n, length = words.shape
        y = self.norm(self.embedding(words)).reshape(n, length * 8 // 2, 2) * self.own + torch.arange(length * 4).unsqueeze(-1)
        values, places = y.topk(1, dim=1)
        z = y.masked_fill(y > 3, 0.0)
        z[:, 0] = 1
        return {"a": values, "b": (places, y.argmax(1))}, z.to(torch.float64), extra["k"] + y.shape[1]


class Parts(nn.Module):
    def forward(self, x, i):
        y = x.clone()
        y[0, :] = 0
        y[i, 1] += 1
        return (x[i], x[:, ::2], x[-1:, 1:-1], x.gather(1, i[:, None].expand(-1, 2)), torch.where(x > 0, x, -x).cumsum(1), x.sort(1)[1],
                F.pad(x, (1, 2)), torch.einsum("ij,kj->ik", x, x), x.index_select(0, i).std(0), *x.max(dim=1), torch.tril(x), torch.roll(x, 1, 0),
                x.unflatten(1, (2, 2)), torch.stack([x, x], 0).mean((0, 2)), x.split([1, 3], 1)[1], torch.full((2,), 3.0) + x.norm(), y,
                torch.arange(0, 4, 2), x.pow(2).clamp(min=0.1).rsqrt())


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda x: self.layer(x) + 1, lambda x: (x * 2).sin() - self.layer.bias, (x,))
        return torch.cond(y.max() > 1, lambda y: torch.cond(y.min() > 0, torch.sin, torch.cos, (y,)), lambda y: y + 1, (y,))


class Rounds(nn.Module):
    def forward(self, i, x):
        return torch._higher_order_ops.while_loop(lambda i, x: (i < 5) & (x.abs().max() < 100), lambda i, x: (i + 1, x * 1.5 + i), (i, x))


class Mapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, rows, scale):
        return torch._higher_order_ops.map(lambda row, scale: self.layer(row) * scale, rows, scale)


class Scanned(nn.Module):
    def forward(self, start, rows):
        return torch._higher_order_ops.scan(lambda carry, row: (carry * 0.5 + row, carry.sin() + row), start, rows)


class Summed(nn.Module):
    def forward(self, rows):
        return torch._higher_order_ops.associative_scan(lambda a, b: a + b, rows, 0, combine_mode="generic")


class Counter(nn.Module):
    """Buffers that a call changes, in place and by assignment, one that is not saved, and an output that is an input."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(3))
        self.register_buffer("step", torch.full((3,), 0.5), persistent=False)

    def forward(self, x):
        self.count += 1
        self.mean = self.mean * 0.9 + x.mean(0) * self.step
        return x - self.mean, self.count.clone(), x


class Mutated(nn.Module):
    def forward(self, x, memory):
        memory[:, 0] = x.sum(1)
        memory.mul_(2)
        return memory + 1, x


class Nested(nn.Module):
    """Nested arguments and results, keywords, None, numbers and strings."""

    def forward(self, pair, named, *, scale, mode="x", factor=2, nothing=None):
        (a, b), c = pair
        out = {"sum": a + b * scale, "list": [c * factor, None, {"deep": named["k"][0] - named["m"]}], "three": 3, "half": 0.5, "mode": mode}
        return out, (nothing, a)


class Sizes(nn.Module):
    """Sizes in arithmetic, as values and as results."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x, y):
        n, m = x.shape[0], y.shape[0]
        z = torch.cat([x, y]).view(n + m, 2, 2).flatten(1)
        half = n - n // 2
        return self.layer(z)[:half] * (n / 2), torch.arange(n), x.new_zeros(n * 2, m + 1), n + m, torch.full((m % 3 + 1,), n), min(n, m), x.mean() * n ** 0.5


class Numbers(nn.Module):
    """A number as an input that varies."""

    def forward(self, x, n):
        return x[:, :n] * n, n * 2, x.sum() + n


class Elements(nn.Module):
    """Sizes that depend on values."""

    def forward(self, x, mask, n):
        k = n.item()
        torch._check(k >= 1)
        torch._check(k <= 8)
        rows = x[mask]
        return rows * 2, torch.arange(k) * 2, mask.nonzero(), torch.ones(k, 2)


class Tied(nn.Module):
    """One parameter with two names."""

    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(9, 6), nn.Linear(6, 9, bias=False)
        self.out.weight = self.words.weight
        self.register_parameter("unused", nn.Parameter(torch.ones(2)))

    def forward(self, x):
        return self.out(self.words(x).tanh())


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 2)
        self.a.requires_grad_(False)

    def forward(self, x):
        with torch.no_grad():
            y = self.a(x)
        return self.b(y), y.detach()


class Places(nn.Module):
    """In-place operators."""

    def forward(self, x, y):
        a = x + 0
        a.add_(y, alpha=2).mul_(0.5).clamp_(-1, 1).relu_()
        a[1:].sub_(0.25)
        a[:, 0].copy_(y[:, 1])
        a.masked_fill_(y > 1, 3.0)
        b = torch.zeros_like(a).index_add_(0, torch.tensor([1, 0]), y[:2]).fill_diagonal_(2)
        c = torch.empty(2, 3).uniform_(0, 0).bernoulli_(0.0) + a.sigmoid().neg_().exp_()[:2]
        d = F.silu(F.hardswish(F.leaky_relu(F.elu(y + 1, inplace=True), 0.1, inplace=True), inplace=True), inplace=True)
        e = F.dropout(F.dropout(y + 1, 0.5, False, True), 0.0, True, True).squeeze_(0).unsqueeze_(0).transpose_(0, 1)
        f = torch.randn(2).zero_().scatter_(0, torch.tensor([1]), 4.0).cumsum_(0)
        return a, b, c, d, e, f, F.hardtanh(y * 2, inplace=True), F.relu6(y * 3, inplace=True), torch.addmm(a, y[:, :3], y).t_()


class Outs(nn.Module):
    """Operators that write into a given tensor."""

    def forward(self, x, y):
        a, b = torch.empty(2, 3), torch.empty(2, 2)
        torch.add(x, y, out=a)
        torch.mm(x, y.t(), out=b)
        return a, b, torch.cat([x, y], out=torch.empty(4, 3))


class Cast(nn.Module):
    """Mixed types by autocast."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.layer(x)
        return y, y.float().softmax(-1)


class Kept(nn.Module):
    """Checkpointed activations."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(lambda x: self.layer(x).relu(), x, use_reentrant=False)


class Complex(nn.Module):
    def forward(self, x):
        y = torch.fft.rfft(x)
        z = torch.view_as_complex(torch.stack([x, x.cos()], -1)) * 1j
        return torch.fft.irfft(y * 2, x.shape[-1]), y.abs(), torch.view_as_real(y), y.angle(), z.real, z.imag, z.conj(), torch.polar(x.abs(), x)


class Attention(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, mask, **self.options)


class Ordered(nn.Module):
    """Operators with effects, which the inference IR orders by tokens."""

    def forward(self, x):
        torch.ops.aten._print("")
        return x * 2


Point = collections.namedtuple("Point", "u v")


class Classes(nn.Module):
    """Dicts, ordered dicts, lists and named tuples of values."""

    def forward(self, rows, points, **named):
        return collections.OrderedDict(b=rows[0] + rows[1], a=Point(points["p"].u * 2, [named["k"], {0: rows[1]}]))


class Own(nn.Module):
    """Operators that a program defines; exported.lua defines them in Lua."""

    def forward(self, x):
        y = x.clone()
        torch.ops.ltensor_tests.bump(y[1:], 2.0)
        a, b = torch.ops.ltensor_tests.scaled(y, 3.0, [0, 1])
        return a + b, y


def define_own_operators():
    if hasattr(torch.ops.ltensor_tests, "bump"):
        return
    _pytree._register_namedtuple(Point, serialized_type_name="networks.Point")

    @torch.library.custom_op("ltensor_tests::bump", mutates_args=("x",))
    def bump(x: torch.Tensor, by: float) -> None:
        x.add_(by)

    @torch.library.custom_op("ltensor_tests::scaled", mutates_args=())
    def scaled(x: torch.Tensor, k: float, dims: list[int], more: float = 0.5) -> tuple[torch.Tensor, torch.Tensor]:
        return x * k, x + len(dims) + more

    scaled.register_fake(lambda x, k, dims, more=0.5: (torch.empty_like(x), torch.empty_like(x)))


def own_cases():
    define_own_operators()
    Dim, r = torch.export.Dim, torch.randn
    n, length = Dim("n", min=2, max=20), Dim("length", min=2, max=30)

    def of(name, make, *args, kwargs=None, options=None, **others):
        return Case(name, lambda: (make(), args, kwargs or {}, options or {}), **others)

    yield of("images", lambda: Images().eval(), r(2, 3, 16, 16))
    yield of("images in training", Images, r(4, 3, 16, 16))
    yield of("words", Words, torch.randint(0, 11, (3, 4)), {"k": torch.ones(2)}, options={"dynamic_shapes": {"words": {0: n, 1: length}, "extra": {"k": None}}})
    yield of("parts", Parts, r(4, 4), torch.tensor([0, 2, 1, 3]), with_inputs=True)
    yield of("transformer", lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).eval(), r(2, 5, 16))
    yield of("branches", Branches, r(4, 3), with_inputs=True)
    yield of("rounds", Rounds, torch.tensor(0), r(3))
    yield of("map", Mapped, r(4, 3), torch.tensor(2.0))
    yield of("scan", Scanned, r(3), r(5, 3))
    yield of("associative scan", Summed, r(5, 3), forms=("decomposed",))  # the other form has calls of vmap inside
    yield of("buffers", Counter, r(4, 3))
    yield of("changed inputs", Mutated, r(2, 3), torch.zeros(2, 2))
    yield of("nested", Nested, ((r(2), r(2)), r(3)), {"k": [r(2)], "m": r(2)}, kwargs={"scale": r(2)})
    yield of("effects", Ordered, r(3))
    yield of("classes", Classes, [r(2), r(2)], {"p": Point(r(2), r(2))}, kwargs={"k": r(2)})
    yield of("own operators", Own, r(3, 2))
    yield of("sizes", Sizes, r(5, 4), r(3, 4), options={"dynamic_shapes": {"x": {0: Dim.AUTO}, "y": {0: Dim.AUTO}}})
    yield of("a number", Numbers, r(3, 6), 4, options={"dynamic_shapes": {"x": None, "n": Dim.DYNAMIC}})
    yield of("elements", Elements, r(4, 3), torch.tensor([True, False, True, True]), torch.tensor(3))
    yield of("tied", Tied, torch.tensor([[1, 2], [8, 0]]))
    yield of("frozen", Frozen, r(3, 4))
    yield of("in place", Places, r(3, 3), r(3, 3))
    yield of("outs", Outs, r(2, 3), r(2, 3))
    yield of("autocast", Cast, r(2, 4))
    yield of("checkpoint", Kept, r(2, 4))
    yield of("complex", Complex, r(2, 8), with_inputs=True)
    q, k, v = r(2, 4, 5, 8), r(2, 4, 7, 8), r(2, 4, 7, 8)
    yield of("attention", Attention, q, k, v, with_inputs=True)
    yield of("attention with a mask", Attention, q, k, v, torch.rand(5, 7) > 0.3, with_inputs=True)
    yield of("attention with a bias", Attention, q, k, v, r(2, 1, 5, 7), with_inputs=True)
    yield of("causal attention", lambda: Attention(is_causal=True, scale=0.5), q, k, v, with_inputs=True)
    yield of("attention of groups", lambda: Attention(enable_gqa=True), q, k[:, :2], v[:, :2], with_inputs=True)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        yield of(f"perceptron of {str(dtype)[6:]}", lambda dtype=dtype: nn.Sequential(nn.Linear(6, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 3)).to(dtype), r(4, 6).to(dtype))
        yield of(f"convolution of {str(dtype)[6:]}", lambda dtype=dtype: nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2)).to(dtype), r(2, 2, 8, 8).to(dtype))


# ---- torch.nn: each module alone ----


def f(*sizes):
    return torch.randn(*sizes)


def p(*sizes):
    return torch.rand(*sizes) * 0.8 + 0.1


def i(high, *sizes):
    return torch.randint(0, high, sizes)


def b(*sizes):
    return torch.rand(*sizes) > 0.5


def modules_text():
    for d, sizes in ((1, "9"), (2, "7, 9"), (3, "5, 6, 7")):
        yield from (f"Conv{d}d(4, 6, 3, stride=2, padding=1, dilation=1, groups=2) | f(2, 4, {sizes})", f"Conv{d}d(4, 6, 3, padding='same', bias=False) | f(2, 4, {sizes})",
                    f"Conv{d}d(4, 6, 3, padding=1, padding_mode='circular') | f(2, 4, {sizes})", f"Conv{d}d(4, 6, 3, padding=1, padding_mode='reflect') | f(2, 4, {sizes})",
                    f"Conv{d}d(4, 6, 2) | f(4, {sizes})",
                    f"ConvTranspose{d}d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2) | f(2, 4, {sizes})",
                    f"MaxPool{d}d(3, 2, 1) | f(2, 4, {sizes})", f"MaxPool{d}d(2, return_indices=True, ceil_mode=True) | f(2, 4, {sizes})",
                    f"AvgPool{d}d(3, 2, 1) | f(2, 4, {sizes})", f"AvgPool{d}d(2, ceil_mode=True, count_include_pad=False) | f(2, 4, {sizes})",
                    f"LPPool{d}d(2, 2) | f(2, 4, {sizes})", f"AdaptiveAvgPool{d}d(3) | f(2, 4, {sizes})", f"AdaptiveMaxPool{d}d(3) | f(2, 4, {sizes})",
                    f"AdaptiveMaxPool{d}d(2, return_indices=True) | f(2, 4, {sizes})",
                    f"BatchNorm{d}d(4) | f(3, 4, {sizes})", f"BatchNorm{d}d(4).eval() | f(3, 4, {sizes})", f"BatchNorm{d}d(4, affine=False, track_running_stats=False) | f(3, 4, {sizes})",
                    f"BatchNorm{d}d(4, momentum=None) | f(3, 4, {sizes})",
                    f"InstanceNorm{d}d(4, affine=True) | f(2, 4, {sizes})", f"InstanceNorm{d}d(4, track_running_stats=True) | f(2, 4, {sizes})",
                    f"ConstantPad{d}d(2, 1.5) | f(2, 4, {sizes})", f"ZeroPad{d}d(1) | f(2, 4, {sizes})", f"ReflectionPad{d}d(2) | f(2, 4, {sizes})",
                    f"ReplicationPad{d}d(2) | f(2, 4, {sizes})", f"CircularPad{d}d(2) | f(2, 4, {sizes})", f"Dropout{d}d(0.4) | f(2, 4, {sizes})",
                    f"Dropout{d}d(0.4).eval() | f(2, 4, {sizes})")
    yield from ("FractionalMaxPool2d(2, output_size=3) | f(2, 4, 7, 9)", "FractionalMaxPool3d(2, output_size=3) | f(2, 4, 7, 9, 8)", "Unfold(3, padding=1, stride=2) | f(2, 4, 7, 9)",
                "Fold((6, 8), 2, stride=2) | f(2, 16, 12)", "MaxUnpool2d(2) | f(2, 3, 4, 4), i(4, 2, 3, 4, 4)", "MaxUnpool1d(2) | f(2, 3, 4), i(4, 2, 3, 4)",
                "PixelShuffle(2) | f(2, 8, 3, 4)", "PixelUnshuffle(2) | f(2, 3, 4, 6)", "ChannelShuffle(2) | f(2, 4, 3, 3)")
    for mode, sizes in (("nearest", "4"), ("nearest", "4, 5"), ("nearest", "3, 4, 5"), ("linear", "4"), ("bilinear", "4, 5"), ("bicubic", "4, 5"), ("trilinear", "3, 4, 5"),
                        ("nearest-exact", "4, 5"), ("area", "4, 5")):
        yield f"Upsample(scale_factor=2, mode='{mode}') | f(2, 3, {sizes})"
        yield f"Upsample(size=7, mode='{mode}') | f(2, 3, {sizes})"
        if "linear" in mode or "cubic" in mode:
            yield f"Upsample(scale_factor=1.7, mode='{mode}', align_corners=True) | f(2, 3, {sizes})"
    yield from ("UpsamplingNearest2d(scale_factor=2) | f(2, 3, 4, 5)", "UpsamplingBilinear2d(scale_factor=2) | f(2, 3, 4, 5)")
    for name in ("ELU", "Hardshrink", "Hardsigmoid", "Hardtanh", "Hardswish", "LeakyReLU", "LogSigmoid", "PReLU", "ReLU", "ReLU6", "SELU", "CELU", "GELU", "Sigmoid", "SiLU", "Mish",
                 "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "GLU", "Identity", "Flatten"):
        yield f"{name}() | f(3, 4, 6)"
        if name in ("ELU", "Hardsigmoid", "Hardtanh", "Hardswish", "LeakyReLU", "ReLU", "ReLU6", "SELU", "CELU", "SiLU", "Mish"):
            yield f"Sequential(nn.Linear(6, 6), nn.{name}(inplace=True)) | f(3, 4, 6)"
    yield from ("RReLU() | f(3, 4, 6)", "RReLU().eval() | f(3, 4, 6)", "GELU('tanh') | f(3, 4, 6)", "Threshold(0.1, 20) | f(3, 6)", "PReLU(4) | f(3, 4, 6)", "Softmin(1) | f(3, 6)",
                "Softmax(1) | f(3, 6)", "Softmax2d() | f(2, 3, 4, 5)", "LogSoftmax(-1) | f(3, 6)", "AdaptiveLogSoftmaxWithLoss(8, 20, [5, 12]) | f(6, 8), i(20, 6)",
                "Dropout(0.3) | f(4, 6)", "Dropout(0.3).eval() | f(4, 6)", "Dropout(0.3, inplace=True).eval() | f(4, 6)", "AlphaDropout(0.3) | f(4, 6)", "AlphaDropout(0.3).eval() | f(4, 6)",
                "FeatureAlphaDropout(0.3) | f(4, 6, 3)", "GroupNorm(2, 4) | f(3, 4, 5)", "GroupNorm(2, 4, affine=False) | f(3, 4, 5, 6)",
                "LayerNorm(6) | f(2, 4, 6)", "LayerNorm((4, 6), elementwise_affine=False) | f(2, 4, 6)", "LayerNorm(6, bias=False) | f(2, 4, 6)", "RMSNorm(6) | f(2, 4, 6)",
                "RMSNorm(6, eps=1e-3, elementwise_affine=False) | f(2, 4, 6)", "LocalResponseNorm(3) | f(2, 6, 4, 5)", "Linear(5, 3) | f(2, 4, 5)", "Linear(5, 3, bias=False) | f(5)",
                "Bilinear(3, 4, 5) | f(2, 3), f(2, 4)", "Unflatten(1, (2, 3)) | f(2, 6)", "Flatten(0, 1) | f(2, 3, 4)", "Embedding(9, 4) | i(9, 3, 5)", "Embedding(9, 4, padding_idx=2) | i(9, 3, 5)",
                "Embedding(9, 4, max_norm=1.0) | i(9, 3, 5)", "Embedding(9, 4, scale_grad_by_freq=True) | i(9, 3, 5)",
                "EmbeddingBag(9, 4) | i(9, 3, 5)", "EmbeddingBag(9, 4, mode='sum') | i(9, 7), torch.tensor([0, 3])", "EmbeddingBag(9, 4, mode='max') | i(9, 3, 5)",
                "CosineSimilarity() | f(3, 4), f(3, 4)", "PairwiseDistance(2) | f(3, 4), f(3, 4)", "ParameterList([nn.Parameter(torch.ones(3))])")
    for cell in ("RNN", "LSTM", "GRU"):
        yield from (f"{cell}(4, 5) | f(3, 2, 4)", f"{cell}(4, 5, 2, batch_first=True, bidirectional=True) | f(2, 3, 4)", f"{cell}(4, 5, bias=False) | f(3, 4)", f"{cell}Cell(4, 5) | f(2, 4)",
                    f"{cell}(4, 5, 2, dropout=0.5).eval() | f(3, 2, 4)")
    yield from ("RNN(4, 5, nonlinearity='relu') | f(3, 2, 4), f(1, 2, 5)", "LSTM(4, 5, proj_size=3) | f(3, 2, 4)", "LSTM(4, 5) | f(3, 2, 4), (f(1, 2, 5), f(1, 2, 5))", "GRU(4, 5) | f(3, 2, 4), f(1, 2, 5)",
                "MultiheadAttention(8, 2) | f(5, 3, 8), f(6, 3, 8), f(6, 3, 8)", "MultiheadAttention(8, 2, batch_first=True).eval() | f(3, 5, 8), f(3, 5, 8), f(3, 5, 8)",
                "MultiheadAttention(8, 2, kdim=4, vdim=6, add_bias_kv=True, add_zero_attn=True) | f(5, 3, 8), f(6, 3, 4), f(6, 3, 6)",
                "TransformerEncoderLayer(8, 2, 16, batch_first=True).eval() | f(2, 5, 8)", "TransformerEncoderLayer(8, 2, 16, 0.0, activation='gelu', norm_first=True) | f(5, 2, 8)",
                "TransformerDecoderLayer(8, 2, 16, 0.0) | f(5, 2, 8), f(4, 2, 8)", "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2).eval() | f(2, 5, 8)",
                "TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, 0.0), 2) | f(5, 2, 8), f(4, 2, 8)", "Transformer(8, 2, 1, 1, 16, 0.0) | f(5, 2, 8), f(4, 2, 8)")
    yield from ("L1Loss() | f(3, 4), f(3, 4)", "MSELoss(reduction='sum') | f(3, 4), f(3, 4)", "CrossEntropyLoss() | f(5, 4), i(4, 5)", "CrossEntropyLoss(label_smoothing=0.1, ignore_index=1) | f(5, 4), i(4, 5)",
                "CrossEntropyLoss(weight=torch.rand(4)) | f(5, 4, 3), i(4, 5, 3)", "CrossEntropyLoss() | f(5, 4), p(5, 4)", "CTCLoss() | f(6, 2, 5).log_softmax(2), i(4, 2, 3) + 1, torch.tensor([6, 5]), torch.tensor([3, 2])",
                "NLLLoss() | f(5, 4).log_softmax(1), i(4, 5)", "NLLLoss(reduction='none') | f(5, 4, 3).log_softmax(1), i(4, 5, 3)", "NLLLoss() | f(5, 4, 3, 3).log_softmax(1), i(4, 5, 3, 3)", "PoissonNLLLoss() | f(3, 4), p(3, 4)", "PoissonNLLLoss(full=True, log_input=False) | p(3, 4), p(3, 4) * 5",
                "GaussianNLLLoss() | f(3, 4), f(3, 4), p(3, 4)", "KLDivLoss(reduction='batchmean') | f(3, 4).log_softmax(1), p(3, 4)", "KLDivLoss(log_target=True) | f(3, 4).log_softmax(1), f(3, 4).log_softmax(1)", "BCELoss() | p(3, 4), p(3, 4)",
                "BCEWithLogitsLoss(pos_weight=torch.rand(4)) | f(3, 4), p(3, 4)", "MarginRankingLoss() | f(4), f(4), f(4).sign()", "HingeEmbeddingLoss() | f(3, 4), f(3, 4).sign()",
                "HuberLoss(delta=0.5) | f(3, 4), f(3, 4)", "SmoothL1Loss(beta=0.5) | f(3, 4), f(3, 4)",
                "SoftMarginLoss() | f(3, 4), f(3, 4).sign()", "MultiLabelSoftMarginLoss() | f(3, 4), b(3, 4).float()", "CosineEmbeddingLoss() | f(3, 4), f(3, 4), torch.tensor([1, -1, 1])",
                "MultiMarginLoss() | f(3, 4), i(4, 3)", "TripletMarginLoss() | f(3, 4), f(3, 4), f(3, 4)", "TripletMarginWithDistanceLoss() | f(3, 4), f(3, 4), f(3, 4)")


def module_cases():
    for text in modules_text():
        source, _, inputs = text.partition(" | ")
        if not inputs:
            continue
        yield Case(text, lambda source=source, inputs=inputs: (eval("nn." + source, {"nn": nn, "torch": torch}), eval(f"({inputs},)", globals()), {}, {}), with_inputs=True,  # noqa: S307
                   is_random=re.search("Dropout|RReLU\\(\\) |Fractional", text) is not None and ".eval()" not in text)


# ---- PyTorch's operators, by the samples of its own tests ----


class Call(nn.Module):
    """process: PyTorch's function of the results that are unique, such as U @ V.mH of singular vectors, whose signs are not."""

    def __init__(self, op, constants, places, process):
        super().__init__()
        self.op, self.constants, self.places, self.process = op, constants, places, process

    def forward(self, *tensors):
        leaves, spec = list(self.constants[0]), self.constants[1]
        for place, tensor in zip(self.places, tensors):
            leaves[place] = tensor
        args, kwargs = _pytree.tree_unflatten(leaves, spec)
        result = self.process(self.op(*args, **kwargs))
        return tuple(result) if isinstance(result, tuple) else result  # torch.export.save refuses torch.return_types


def call_of(op, sample):
    leaves, spec = _pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    tensors = tuple(leaves[place].detach() for place in places)
    return Call(op.op, ([None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], spec), places, sample.output_process_fn_grad), tensors, {}, {}


def operator_cases(samples=3):
    from torch.testing._internal.common_methods_invocations import op_db

    for op in op_db:
        dtype = next((dtype for dtype in (torch.float32, torch.int64, torch.complex64, torch.bool) if dtype in (op.dtypesIfCPU or op.dtypes)), None)
        if dtype is None:
            continue
        made = {}

        def sample_of(k, op=op, dtype=dtype, made=made):
            if "all" not in made:
                torch.manual_seed(0)
                every = list(op.sample_inputs("cpu", dtype, requires_grad=False))
                made["all"] = every[:: max(1, len(every) // samples)][:samples]
            if k >= len(made["all"]):
                raise IndexError("no more samples")
            return call_of(op, made["all"][k])

        for k in range(samples):
            yield Case(f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''} {k + 1}", lambda k=k, of=sample_of: of(k), with_inputs=True)


# ---- packages ----


def declare_operators_of(package):
    """Imports a package whose wheel has kernels that this PyTorch cannot load: declares its operators by their names alone."""
    library = torch.library.Library(package, "FRAGMENT")
    for _ in range(50):
        try:
            return importlib.import_module(package), library
        except RuntimeError as error:
            name = re.search(rf"operator {package}::(\w+) does not exist", str(error))
            if not name:
                raise ImportError(str(error)) from error
            library.define(name[1] + "(Tensor x) -> Tensor")
            for module in [key for key in sys.modules if key.split(".")[0] == package]:
                del sys.modules[module]
    raise ImportError(package)


def randomized(module):
    """The module with running statistics and zero weights that are not at their start, so that an error in them is seen."""
    for name, x in [*module.named_buffers(), *module.named_parameters()]:
        if x.is_floating_point() and x.numel() and (name.endswith(("running_mean", "running_var")) or not x.detach().any()):
            x.data = torch.rand_like(x) * 0.2 + (0.9 if name.endswith("running_var") else -0.1)
    return module


def torchvision_cases():
    torchvision, library = declare_operators_of("torchvision")
    models = torchvision.models
    torchvision_cases.library = library
    for name in models.list_models():
        if name.startswith(("fasterrcnn", "fcos", "keypointrcnn", "maskrcnn", "retinanet", "ssd")) or "quantized" in name:
            continue  # torch.export refuses the models of detection, whose sizes depend on values

        def make(name=name):
            options, size = {}, 64
            if name.startswith("vit"):
                options["image_size"] = size = 64 if not name.endswith("14") else 56
            if name.startswith(("alexnet", "inception", "squeezenet", "maxvit")):
                size = {"maxvit_t": 224, "inception_v3": 96}.get(name, 80)
            if name.startswith(("deeplab", "fcn", "lraspp")):
                options["weights_backbone"] = None
            if name in ("googlenet", "inception_v3"):
                options["init_weights"] = False
            video = name in ("mc3_18", "r3d_18", "r2plus1d_18", "s3d") or name.startswith(("mvit", "swin3d"))
            shape = (1, 3, 16, 224, 224) if name.startswith("mvit") else (1, 3, 16, 64, 64) if video else (2, 3, size, size)
            network = models.get_model(name, weights=None, **options)
            if name.startswith("raft"):
                return randomized(network.eval()), (torch.rand(1, 3, 128, 128), torch.rand(1, 3, 128, 128), 2), {}, {}
            return randomized(network.eval()), (torch.randn(*shape),), {}, {}

        yield Case(name, make)


# The smallest model of each of timm's files, and of large families another one. deepseek_vit, gemma4_vit, mobilenetv5, nasnet, pnasnet, qwen3_vit
# and vgg have none below 85 million parameters.
TIMM = ("beit_base_patch16_224 eca_botnext26ts_256 mobileone_s0 cait_xxs24_224 coat_tiny convit_tiny convmixer_1024_20_ks9_p14 convnext_atto_rms cpubone_nano "
        "crossvit_tiny_240 csatv2 cs3darknet_focus_s cspnext_tiny davit_tiny deit_tiny_patch16_224 densenet121 dla46_c dla60x_c dpn48b edgenext_xx_small "
        "efficientformer_l1 efficientformerv2_s0 mobilenetv2_035 efficientvim_m1 efficientvit_b0 efficientvit_m0 vit_tiny_patch16_dinov3_qkvb fasternet_t0 "
        "fastvit_mci0 focalnet_tiny_srf gcvit_xxtiny ghostnet_050 hardcorenas_b hgnetv2_b0 hiera_tiny_224 sam2_hiera_tiny hrnet_w18_small iformer_t "
        "inception_next_atto inception_resnet_v2 inception_v3 inception_v4 lcnetv2_small levit_128s lowformer_b0 mambaout_femto maxvit_pico_rw_256 caformer_s18 "
        "gmlp_ti16_224 mobilenetv3_small_050 mobilevit_xxs mvitv2_tiny naflexvit_base_patch16_parfac_gap nest_tiny nextvit_small nf_regnet_b0 pit_xs_224 "
        "pvt_v2_b0 rdnet_tiny regnetx_002 repghostnet_050 repvit_m0_9 res2next50 resnest14d resnet10t resnetv2_18 rexnet_100 selecsls60 legacy_seresnet18 "
        "sequencer2d_s shvit_s1 skresnet18 starnet_s050 swiftformer_xs swin_tiny_patch4_window7_224 swinv2_tiny_window16_256 swinv2_cr_tiny_224 tiny_vit_5m_224 "
        "tnt_s_legacy_patch16_224 tresnet_m twins_svt_small visformer_tiny vit_tiny_patch16_224 vit_tiny_r_s16_p8_224 vit_srelpos_small_patch16_224 "
        "samvit_base_patch16_224 vitamin_small_224 volo_d1_224 ese_vovnet19b_slim_dw legacy_xception xception41p xcit_nano_12_p8_224 repvgg_a0 resnext26ts "
        "cspresnet50 deit3_small_patch16_224 efficientnet_b0 eva02_tiny_patch14_224 ghostnetv2_100 ghostnetv3_050 gmixer_12_224 resmlp_12_224 mixer_s16_224 "
        "lcnet_035 mobilenetv4_conv_small_035 mobilevitv2_050 resnetblur18 seresnet50 convnextv2_atto poolformer_s12 convformer_s18 nf_resnet26 "
        "twins_pcpvt_small coatnet_pico_rw_224 resnetv2_50x1_bit coat_lite_tiny regnety_002 gernet_s ").split()


def timm_network(timm, name):
    """The network and images of the least size that it accepts."""
    for size in (64, 96, 128, 160, None):
        try:
            network = timm.create_model(name, pretrained=False, **({"img_size": size} if size else {}))
        except TypeError:
            network = timm.create_model(name, pretrained=False)
        except (AssertionError, RuntimeError, ValueError):
            continue
        images = torch.randn(2, 3, size, size) if size else torch.randn(2, *network.default_cfg["input_size"])
        with contextlib.suppress(AssertionError, RuntimeError, ValueError), torch.no_grad():
            network.eval()(images)
            return network, images
    raise ValueError(name)


def timm_cases():
    timm_cases.library = declare_operators_of("torchvision")
    import timm

    for name in TIMM:

        def make(name=name):
            network, images = timm_network(timm, name)
            return randomized(network.eval()), (images,), {}, {}

        yield Case(name, make)


def transformers_cases():
    import os

    with contextlib.suppress(ImportError):
        transformers_cases.library = declare_operators_of("torchvision")  # transformers imports it where it is installed
    os.environ["HF_HUB_OFFLINE"] = "1"
    import transformers

    small = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, vocab_size=99, max_position_embeddings=64, num_key_value_heads=2, d_model=32, encoder_layers=2,
                 decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, d_kv=8, d_ff=48, num_layers=2, num_heads=4, n_layer=2,
                 n_head=4, n_embd=32, n_positions=64, dim=32, hidden_dim=48, n_heads=4, n_layers=2, embedding_size=16, head_dim=8, image_size=32, patch_size=8, pad_token_id=0, bos_token_id=1,
                 eos_token_id=2, decoder_start_token_id=1, use_cache=False, sliding_window=8, num_experts=4, num_local_experts=4, num_experts_per_tok=2,
                 moe_intermediate_size=24, attn_implementation="eager", layer_types=None, ffn_dim=48, word_embed_proj_dim=32, rotary_dim=4)
    texts = ("Albert Bart Bert BertGeneration BigBird Biogpt BioGpt Blenderbot BlenderbotSmall Bloom Camembert CodeGen Cohere ConvBert CTRL Deberta DebertaV2 DistilBert Electra Ernie "
             "Falcon FNet Funnel Gemma Gemma2 Glm GPT2 GPTBigCode GPTNeo GPTNeoX GPTJ Granite Helium IBert LayoutLM Llama Longformer Luke M2M100 Marian MBart MegatronBert Mistral Mixtral MobileBert "
             "ModernBert MPNet Mpt MT5 MVP Nezha Nystromformer OlMo Olmo Olmo2 OpenAIGPT OPT Pegasus Persimmon Phi Phi3 PLBart Qwen2 Qwen2Moe Qwen3 RemBert Roberta RoFormer Smollm3 SmolLM3 SqueezeBert "
             "StableLm Starcoder2 SwitchTransformers T5 UMT5 XGLM XLM XLMRoberta XLNet Xmod Yoso").split()
    images = "BeitModel ConvNextModel ConvNextV2Model CvtModel DeiTModel Dinov2Model LevitModel MobileNetV1Model MobileNetV2Model MobileViTModel PoolFormerModel PvtModel RegNetModel ResNetModel SegformerModel SwinModel Swinv2Model ViTModel ViTMAEModel VanModel".split()
    for name in texts:
        if not hasattr(transformers, name + "Config"):
            continue

        def make(name=name):
            config = getattr(transformers, name + "Config")
            accepted = config().to_dict()
            options = {key: value for key, value in small.items() if key in accepted or key in ("attn_implementation", "pad_token_id", "use_cache")}
            kind = getattr(transformers, name + "Model", None) or getattr(transformers, name + "Encoder")
            if "attention_types" in accepted:
                options["attention_types"] = [[["global", "local"], 1]]
            if name == "SqueezeBert":
                options["embedding_size"] = options["hidden_size"]
            model = kind(config(**options))
            if hasattr(model, "set_default_language"):
                model.set_default_language("en_XX")
            kwargs = {"input_ids": torch.randint(3, 99, (2, 8))}
            if getattr(model.config, "is_encoder_decoder", False):
                kwargs["decoder_input_ids"] = torch.randint(3, 99, (2, 6))
            return randomized(model.eval()), (), kwargs, {"strict": False}

        yield Case(name, make)
    for name in images:
        if not hasattr(transformers, name):
            continue

        def make(name=name):
            config = getattr(transformers, name[:-5] + "Config")
            accepted = config().to_dict()
            model = getattr(transformers, name)(config(**{key: value for key, value in small.items() if key in accepted and key not in ("hidden_dim", "patch_size", "num_heads", "head_dim", "image_size") and not isinstance(accepted[key], list)}))
            size = getattr(model.config, "image_size", 64)
            size = size if isinstance(size, int) else 64
            return randomized(model.eval()), (torch.randn(2, 3, size, size),), {}, {"strict": False}

        yield Case(name, make)


def torchaudio_cases():
    from torchaudio import models

    makers = {
        "Conformer": lambda: (models.Conformer(16, 4, 32, 2, 7), (torch.randn(2, 10, 16), torch.tensor([10, 8]))),
        "ConvTasNet": lambda: (models.ConvTasNet(2, 16, 32, 3, 16, 16, 2, 2), (torch.randn(1, 1, 200),)),
        "DeepSpeech": lambda: (models.DeepSpeech(16, 32, 8), (torch.randn(1, 1, 12, 16),)),
        "Emformer": lambda: (models.Emformer(16, 4, 32, 2, 4, right_context_length=1), (torch.randn(2, 9, 16), torch.tensor([9, 9]))),
        "Tacotron2": lambda: (models.Tacotron2(n_symbol=10), (torch.randint(0, 10, (1, 6)), torch.tensor([6]), torch.randn(1, 80, 7), torch.tensor([7]))),
        "Wav2Letter": lambda: (models.Wav2Letter(8, "mfcc", 16), (torch.randn(1, 16, 200),)),
        "WaveRNN": lambda: (models.WaveRNN([2, 3], 16, 6, n_res_block=2, n_rnn=16, n_fc=16, kernel_size=5, n_freq=8, n_hidden=8, n_output=8), (torch.randn(1, 1, 6 * 4), torch.randn(1, 1, 8, 8))),
        "wav2vec2": lambda: (models.wav2vec2_model("group_norm", [(16, 10, 5), (16, 3, 2)], False, 32, 0.0, 8, 4, 2, 4, 0.0, 48, 0.0, 0.0, False, 0.0, None), (torch.randn(1, 400),)),
        "HuBERT": lambda: (models.wav2vec2_model("layer_norm", [(16, 10, 5), (16, 3, 2)], True, 32, 0.0, 8, 4, 2, 4, 0.0, 48, 0.0, 0.0, True, 0.0, 10), (torch.randn(1, 400),)),
        "HDemucs": lambda: (models.HDemucs(["a", "b"], nfft=1024, depth=5, channels=8), (torch.randn(1, 2, 8192),)),
        "RNNT": lambda: (models.emformer_rnnt_base(16), (torch.randn(1, 8, 80), torch.tensor([8], dtype=torch.int32), torch.randint(0, 16, (1, 3), dtype=torch.int32), torch.tensor([3], dtype=torch.int32))),
        "SquimObjective": lambda: (models.squim_objective_base(), (torch.randn(1, 4000),)),
    }
    for name, maker in makers.items():

        def make(maker=maker):
            network, args = maker()
            return network.eval(), args, {}, {"strict": False}

        yield Case(name, make)


sets = {"own": own_cases, "modules": module_cases, "operators": operator_cases, "torchvision": torchvision_cases, "timm": timm_cases, "transformers": transformers_cases,
        "torchaudio": torchaudio_cases}
