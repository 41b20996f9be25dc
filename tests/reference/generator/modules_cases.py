"""The layers of torch.nn, without those that are recurrent and attention."""

import torch

from .cases import Arg, Dim, Idx, values
from .module_run import Make as M, Modules

F32 = torch.float32


def x(*shape, grad=True, low=-2.0, high=2.0):
    return Arg(values(F32, *shape, low=low, high=high), grad=grad)


def linear(g):
    g.add(M("Linear", 4, 3), x(5, 4))
    g.add(M("Linear", 4, 3, bias=False), x(2, 3, 4))
    g.add(M("Linear", 4, 3), x(4))
    g.add(M("Linear", 4, 3), Arg(values(torch.float64, 2, 4), grad=True), dtype=torch.float64)
    g.add(M("Bilinear", 2, 3, 4), x(5, 2), x(5, 3))
    g.add(M("Bilinear", 2, 3, 4, bias=False), x(2, 5, 2), x(2, 5, 3))
    g.add(M("Identity"), x(2, 3), grads=False)
    g.add(M("Flatten"), x(2, 3, 4), text=False)
    g.add(M("Flatten", Dim(0), Dim(1)), x(2, 3, 4), text=False)
    g.add(M("Unflatten", Dim(1), (2, 3)), x(2, 6), text=False)
    g.add(M("Sequential", M("Linear", 4, 3), M("ReLU"), M("Linear", 3, 2)), x(5, 4))


def activations(g):
    for name in ("ReLU", "Sigmoid", "Tanh", "SiLU", "GELU", "ReLU6", "SELU", "Mish", "Hardswish", "Hardsigmoid", "ELU", "CELU",
                 "LeakyReLU", "Hardtanh", "Softplus", "LogSigmoid", "Softsign", "Tanhshrink", "Softshrink", "Hardshrink", "PReLU",
                 "GLU", "Softmax2d"):
        g.add(M(name), x(2, 3, 4, low=-4.0, high=4.0))
    g.add(M("GELU", approximate="tanh"), x(3, 4))
    g.add(M("ELU", 0.5), x(3, 4))
    g.add(M("CELU", alpha=2.0), x(3, 4))
    g.add(M("LeakyReLU", 0.2), x(3, 4))
    g.add(M("ReLU", inplace=True), x(3, 4, grad=False))
    g.add(M("LeakyReLU", 0.2, inplace=True), x(3, 4, grad=False))
    g.add(M("Hardtanh", -0.5, 0.25), x(3, 4))
    g.add(M("Softplus", 2.0, 1.5), x(3, 4))
    g.add(M("Softshrink", 0.25), x(3, 4))
    g.add(M("Hardshrink", 0.25), x(3, 4))
    g.add(M("Threshold", 0.1, 20.0), x(3, 4))
    g.add(M("PReLU", 3, init=0.5), x(2, 3, 4))
    g.add(M("GLU", Dim(0)), x(2, 3), text=False)
    g.add(M("RReLU"), x(3, 4), evaluate=True)
    for name in ("Softmax", "LogSoftmax", "Softmin"):
        g.add(M(name, dim=Dim(1)), x(3, 4), text=False)
        g.add(M(name, dim=Dim(-1)), x(2, 3, 4))


def dropouts(g):
    for name, shape in (("Dropout", (3, 4)), ("Dropout1d", (2, 3, 4)), ("Dropout2d", (2, 3, 2, 2)), ("Dropout3d", (2, 3, 1, 2, 2)),
                        ("AlphaDropout", (3, 4)), ("FeatureAlphaDropout", (2, 3, 4))):
        g.add(M(name), x(*shape), evaluate=True)
        g.add(M(name, p=0.0), x(*shape))


def embeddings(g):
    ids = Idx([[1, 4, 1], [0, 3, 4]])
    g.add(M("Embedding", 5, 3), ids)
    g.add(M("Embedding", 5, 3, padding_idx=Dim(1)), ids, text=False)
    g.add(M("Embedding", 5, 3, max_norm=1.0), ids)
    g.add(M("Embedding", 5, 3, scale_grad_by_freq=True), ids)
    g.add(M("Embedding.from_pretrained", Arg(values(F32, 5, 3))), ids)
    g.add(M("Embedding.from_pretrained", Arg(values(F32, 5, 3)), freeze=False), ids)
    for mode in ("sum", "mean", "max"):
        g.add(M("EmbeddingBag", 5, 3, mode=mode), ids)
        g.add(M("EmbeddingBag", 5, 3, mode=mode), Idx([1, 4, 1, 0, 3, 4]), Idx([0, 2]))
    g.add(M("EmbeddingBag", 5, 3, mode="sum"), ids, named={"per_sample_weights": x(2, 3)})
    g.add(M("EmbeddingBag", 5, 3, mode="mean", padding_idx=Dim(4)), ids, text=False)


def losses(g):
    a, b = x(3, 4), x(3, 4, grad=False)
    target = Idx([2, 0, 3])
    positive = Arg(values(F32, 3, 4, low=0.1, high=0.9))
    likely = Arg(values(F32, 3, 4, low=0.1, high=0.9), grad=True)
    weight = Arg(values(F32, 4, low=0.2, high=2.0))
    signs = Arg(torch.tensor([1.0, -1.0, 1.0]))
    for reduction in ("mean", "sum", "none"):
        r = {} if reduction == "mean" else {"reduction": reduction}
        for name in ("L1Loss", "MSELoss", "SmoothL1Loss", "HuberLoss"):
            g.add(M(name, **r), a, b)
        g.add(M("SmoothL1Loss", beta=0.5, **r), a, b)
        g.add(M("HuberLoss", delta=0.5, **r), a, b)
        g.add(M("CrossEntropyLoss", **r), a, target)
        g.add(M("CrossEntropyLoss", weight=weight, **r), a, target, sums=False)
        g.add(M("CrossEntropyLoss", label_smoothing=0.1, **r), a, target)
        g.add(M("CrossEntropyLoss", weight=weight, label_smoothing=0.1, **r), a, target)
        g.add(M("CrossEntropyLoss", label_smoothing=0.1, **r), a, positive)
        g.add(M("CrossEntropyLoss", ignore_index=Dim(0), **r), a, target)
        g.add(M("NLLLoss", **r), a, target)
        g.add(M("NLLLoss", weight=weight, **r), a, target)
        g.add(M("BCELoss", **r), likely, positive)
        g.add(M("BCELoss", weight=weight, **r), likely, positive)
        g.add(M("BCEWithLogitsLoss", **r), a, positive)
        g.add(M("BCEWithLogitsLoss", weight=weight, pos_weight=weight, **r), a, positive)
        g.add(M("KLDivLoss", **r), a, positive)
        g.add(M("KLDivLoss", log_target=True, **r), a, b)
        g.add(M("PoissonNLLLoss", **r), a, positive)
        g.add(M("PoissonNLLLoss", log_input=False, full=True, **r), likely, Arg(values(F32, 3, 4, low=0.0, high=4.0)))
        g.add(M("GaussianNLLLoss", **r), a, b, likely)
        g.add(M("SoftMarginLoss", **r), a, Arg(torch.sign(values(F32, 3, 4)) + (values(F32, 3, 4) * 0)))
        g.add(M("HingeEmbeddingLoss", **r), x(3), signs)
        g.add(M("MarginRankingLoss", margin=0.3, **r), x(3), x(3), signs)
        g.add(M("CosineEmbeddingLoss", margin=0.1, **r), x(3, 4), x(3, 4), signs)
        g.add(M("TripletMarginLoss", **r), x(3, 4), x(3, 4), x(3, 4))
        g.add(M("TripletMarginLoss", margin=2.0, p=1.0, swap=True, **r), x(3, 4), x(3, 4), x(3, 4))
        g.add(M("MultiMarginLoss", **r), a, target)
        g.add(M("MultiMarginLoss", p=2, margin=0.5, weight=weight, **r), a, target)
        g.add(M("MultiLabelSoftMarginLoss", **r), a, Arg((values(F32, 3, 4) > 0).float()))
        g.add(M("CTCLoss", **r), Arg(torch.randn(6, 2, 4).log_softmax(2).mul(100).round().div(100), grad=True),
              Idx([[1, 2, 1], [3, 3, 2]]), Arg(torch.tensor([6, 5])), Arg(torch.tensor([3, 2])), loose=4, grads=False)  # PyTorch's gradient includes that of the softmax before
    g.add(M("KLDivLoss", reduction="batchmean"), a, positive)


def distances(g):
    g.add(M("CosineSimilarity"), x(3, 4), x(3, 4))
    g.add(M("CosineSimilarity", dim=Dim(0)), x(3, 4), x(3, 4))
    g.add(M("PairwiseDistance"), x(3, 4), x(3, 4))
    g.add(M("PairwiseDistance", p=1.0, keepdim=True), x(3, 4), x(3, 4))


def paddings(g):
    for n, shape in ((1, (2, 2, 3)), (2, (1, 2, 3, 3)), (3, (1, 1, 2, 3, 3))):
        for name in ("ZeroPad", "ReflectionPad", "ReplicationPad", "CircularPad"):
            g.add(M(f"{name}{n}d", 1), x(*shape))
        g.add(M(f"ConstantPad{n}d", 2, 3.5), x(*shape))
    g.add(M("ZeroPad2d", (1, 0, 2, 1)), x(1, 1, 2, 2))


def convolutions(g):
    spatial = {1: (7,), 2: (6, 5), 3: (3, 4, 3)}
    for n in (1, 2, 3):
        s = spatial[n]
        g.add(M(f"Conv{n}d", 4, 2, 3), x(2, 4, *s), loose=4)
        g.add(M(f"Conv{n}d", 4, 4, 2, stride=2, padding=1, groups=2, bias=False), x(2, 4, *s), loose=4)
        g.add(M(f"Conv{n}d", 2, 2, 2, dilation=2), x(2, *(v + 1 for v in s)), loose=4)
        g.add(M(f"Conv{n}d", 2, 3, 3, padding="same"), x(1, 2, *s), loose=4)
    for mode in ("reflect", "replicate", "circular"):
        g.add(M("Conv2d", 2, 3, 3, padding=1, padding_mode=mode), x(1, 2, 4, 3), loose=4)
    g.add(M("Conv1d", 2, 3, 4, padding="same", padding_mode="circular"), x(1, 2, 6), loose=4)
    g.add(M("Conv2d", 2, 3, (3, 1), stride=(2, 1), padding=(1, 0)), x(1, 2, 4, 3), loose=4)
    g.add(M("Conv2d", 4, 8, 3, padding=1, groups=4), x(1, 4, 4, 3), loose=4)
    for n in (1, 2, 3):
        g.add(M(f"ConvTranspose{n}d", 2, 3, 3), x(1, 2, *spatial[n]), loose=4)
        g.add(M(f"ConvTranspose{n}d", 4, 4, 3, stride=2, padding=1, output_padding=1, groups=2), x(1, 4, *spatial[n]), loose=4)
    g.add(M("ConvTranspose2d", 2, 3, 3, stride=2, padding=1), x(1, 2, 3, 3), named={"output_size": [6, 5]}, loose=4)
    g.add(M("Unfold", (2, 2), padding=1), x(1, 2, 3, 3))
    g.add(M("Fold", (4, 5), (2, 2), stride=1), x(1, 8, 12))


def pools(g):
    spatial = {1: (8,), 2: (6, 5), 3: (4, 4, 3)}
    for n in (1, 2, 3):
        shape = (2, 2) + spatial[n]
        g.add(M(f"MaxPool{n}d", 2), x(*shape))
        g.add(M(f"MaxPool{n}d", 3, stride=2, padding=1, ceil_mode=True), x(*shape))
        g.add(M(f"AvgPool{n}d", 2), x(*shape))
        g.add(M(f"AvgPool{n}d", 3, stride=2, padding=1, ceil_mode=True, count_include_pad=False), x(*shape))
        g.add(M(f"AdaptiveAvgPool{n}d", 2), x(*shape))
        g.add(M(f"AdaptiveMaxPool{n}d", 2), x(*shape))
        g.add(M(f"MaxPool{n}d", 2, return_indices=True), x(*shape), index_out=(1,), use=(0,))
        g.add(M(f"AdaptiveMaxPool{n}d", 3, return_indices=True), x(*shape), index_out=(1,), use=(0,))
    g.add(M("AdaptiveAvgPool2d", (3, None)), x(1, 2, 6, 5))
    g.add(M("AdaptiveAvgPool2d", 1), x(2, 6, 5))
    g.add(M("MaxPool2d", (2, 1), stride=(1, 2)), x(1, 2, 4, 5))
    for n, shape in ((1, (1, 2, 8)), (2, (1, 2, 4, 6)), (3, (1, 2, 4, 4, 4))):
        g.add(M(f"LPPool{n}d", 2, 2), x(*shape, low=0.1), loose=4)
    pooled, indices = torch.nn.functional.max_pool2d(values(F32, 1, 2, 4, 4), 2, return_indices=True)
    g.add(M("MaxUnpool2d", 2), Arg(pooled, grad=True), Idx(indices))


def norms(g):
    for n, shape in ((1, (4, 3)), (1, (4, 3, 5)), (2, (2, 3, 4, 3)), (3, (2, 3, 2, 2, 3))):
        g.add(M(f"BatchNorm{n}d", 3), x(*shape), loose=10)
        g.add(M(f"BatchNorm{n}d", 3), x(*shape), warm=True, loose=10)
    for n, shape in ((1, (2, 3, 5)), (2, (2, 3, 4, 3)), (3, (2, 3, 2, 2, 3)), (2, (3, 4, 3))):
        g.add(M(f"InstanceNorm{n}d", 3), x(*shape), loose=10)
        g.add(M(f"InstanceNorm{n}d", 3, affine=True, track_running_stats=True), x(*shape), warm=True, loose=10)
    g.add(M("BatchNorm2d", 3, affine=False), x(2, 3, 4, 3), loose=10)
    g.add(M("BatchNorm2d", 3, bias=False), x(2, 3, 4, 3), loose=10)
    g.add(M("BatchNorm2d", 3, track_running_stats=False), x(2, 3, 4, 3), evaluate=True, loose=10)
    g.add(M("BatchNorm2d", 3, eps=0.01, momentum=None), x(2, 3, 4, 3), warm=True, loose=10)
    g.add(M("LayerNorm", 4), x(2, 3, 4), loose=10)
    g.add(M("LayerNorm", (3, 4), eps=0.01), x(2, 3, 4), loose=10)
    g.add(M("LayerNorm", 4, elementwise_affine=False), x(2, 3, 4), loose=10)
    g.add(M("LayerNorm", 4, bias=False), x(2, 3, 4), loose=10)
    g.add(M("RMSNorm", 4), x(2, 3, 4), loose=10)
    g.add(M("RMSNorm", (3, 4), eps=0.01), x(2, 3, 4), loose=10)
    g.add(M("GroupNorm", 2, 4), x(2, 4, 3), loose=10)
    g.add(M("GroupNorm", 2, 4, affine=False), x(2, 4, 3, 2), loose=10)
    g.add(M("LocalResponseNorm", 2), x(2, 4, 3), loose=10)


def images(g):
    g.add(M("Upsample", scale_factor=2.0), x(1, 2, 2, 3))
    g.add(M("Upsample", scale_factor=2.0), x(1, 2, 3))
    g.add(M("Upsample", scale_factor=2.0, mode="bilinear", align_corners=True), x(1, 2, 2, 3))
    g.add(M("Upsample", scale_factor=1.5, mode="bilinear"), x(1, 2, 2, 3))
    g.add(M("Upsample", size=(3, 5), mode="bilinear"), x(1, 2, 2, 3))
    g.add(M("UpsamplingNearest2d", scale_factor=2.0), x(1, 2, 2, 3))
    g.add(M("UpsamplingBilinear2d", size=(3, 4)), x(1, 2, 2, 3))
    g.add(M("Upsample", scale_factor=1.7, mode="bicubic"), x(1, 1, 4, 3), loose=10)
    g.add(M("Upsample", size=(3, 2, 5), mode="trilinear"), x(1, 1, 2, 3, 2), loose=10)
    g.add(M("Upsample", size=5, mode="linear", align_corners=True), x(1, 2, 3))
    g.add(M("Upsample", size=(2, 3), mode="nearest-exact"), x(1, 1, 5, 4))
    g.add(M("Upsample", size=(2, 3), mode="area"), x(1, 1, 5, 4))
    g.add(M("PixelShuffle", 2), x(1, 8, 2, 3))
    g.add(M("PixelUnshuffle", 2), x(1, 2, 4, 6))
    g.add(M("ChannelShuffle", 2), x(1, 4, 2, 2))


def adaptive(g):
    for named in ({}, {"div_value": 2.0, "head_bias": True}):
        make = M("AdaptiveLogSoftmaxWithLoss", 8, 20, (4, 10), **named)
        g.add(make, x(5, 8), Idx([0, 5, 12, 3, 19]), loose=4)
        g.add(make, x(3, 8), Idx([1, 2, 0]), loose=4)
        g.add(make, x(8), Idx(torch.tensor(11)), loose=4)


def write(path):
    g = Modules()
    for part in (linear, activations, dropouts, embeddings, losses, distances, paddings, convolutions, pools, norms, images, adaptive):
        part(g)
    return g.write(path, "Layers of torch.nn: initial values, printed form, results, gradients.")
