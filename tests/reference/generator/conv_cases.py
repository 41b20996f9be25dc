"""Convolutions, their transposes, and windows as columns."""

import torch
import torch.nn.functional as F

from .cases import FLOATS, Arg, Group, values

NAMES = {1: "conv1d", 2: "conv2d", 3: "conv3d"}
TURNED = {1: "conv_transpose1d", 2: "conv_transpose2d", 3: "conv_transpose3d"}


def case(g, op, dtype, x, w, bias=True, turned=False, grad=True, layout=None, **kwargs):
    """Sizes of input and weight; the bias has as many elements as there are output channels."""
    channels = w[1] * kwargs.get("groups", 1) if turned else w[0]
    args = [Arg(values(dtype, *x), layout, grad=grad), Arg(values(dtype, *w, low=-1, high=1), grad=grad)]
    args.append(Arg(values(dtype, channels), grad=grad) if bias else None)
    g.add(op, *args, run=getattr(F, op), via="F", loose=16, **kwargs)


def one_dimension(g, dtype):
    for kwargs in ({}, {"stride": 2}, {"padding": 1}, {"dilation": 2, "padding": [2]}, {"stride": 3, "padding": 2},
                   {"padding": "same"}, {"padding": "valid"}, {"padding": "same", "dilation": 2}):
        case(g, "conv1d", dtype, (2, 3, 9), (4, 3, 3), **kwargs)
    case(g, "conv1d", dtype, (2, 4, 8), (6, 2, 3), groups=2, bias=False)
    case(g, "conv1d", dtype, (2, 4, 8), (8, 1, 3), groups=4, padding=1)
    case(g, "conv1d", dtype, (3, 8), (2, 3, 2))
    case(g, "conv1d", dtype, (3, 8), (2, 3, 2), padding="same")
    case(g, "conv1d", dtype, (1, 1, 1), (1, 1, 1))
    for kwargs in ({}, {"stride": 2}, {"stride": 2, "output_padding": 1}, {"padding": 1}, {"dilation": 2, "padding": 1}):
        case(g, "conv_transpose1d", dtype, (2, 3, 5), (3, 4, 3), turned=True, **kwargs)
    case(g, "conv_transpose1d", dtype, (2, 4, 5), (4, 3, 3), turned=True, groups=2)
    case(g, "conv_transpose1d", dtype, (3, 5), (3, 2, 2), turned=True, bias=False)


def two_dimensions(g, dtype):
    for kwargs in ({}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"stride": [2, 1], "padding": [0, 2]}, {"stride": 3, "padding": 1},
                   {"dilation": [1, 2], "padding": [2, 1]}, {"padding": "same"}, {"padding": "valid", "stride": 2},
                   {"padding": "same", "dilation": [2, 1]}, {"stride": 2, "padding": 2, "dilation": 2}):
        case(g, "conv2d", dtype, (2, 3, 7, 6), (4, 3, 3, 3), **kwargs)
    case(g, "conv2d", dtype, (2, 3, 6, 6), (4, 3, 2, 4), padding="same")
    case(g, "conv2d", dtype, (2, 3, 6, 5), (2, 3, 5, 1), bias=False)
    case(g, "conv2d", dtype, (2, 3, 5, 5), (5, 3, 1, 1))
    case(g, "conv2d", dtype, (2, 3, 5, 5), (5, 3, 1, 1), stride=2, padding=1)
    case(g, "conv2d", dtype, (2, 4, 5, 5), (6, 2, 3, 3), groups=2)
    case(g, "conv2d", dtype, (2, 4, 5, 5), (4, 1, 3, 3), groups=4, padding=1)
    case(g, "conv2d", dtype, (1, 4, 5, 5), (8, 1, 3, 3), groups=4, stride=2, padding=1)
    case(g, "conv2d", dtype, (3, 5, 5), (2, 3, 2, 2))
    case(g, "conv2d", dtype, (2, 3, 6, 5), (4, 3, 3, 3), layout="transpose")
    case(g, "conv2d", dtype, (1, 1, 8, 8), (6, 1, 5, 5), padding=2)
    case(g, "conv2d", dtype, (2, 2, 6, 6), (16, 2, 5, 5))
    case(g, "conv2d", dtype, (1, 16, 4, 4), (16, 16, 3, 3), padding=1, bias=False)
    for kwargs in ({}, {"stride": 2}, {"stride": 2, "padding": 1, "output_padding": 1}, {"padding": [1, 0]}, {"dilation": 2},
                   {"stride": [1, 3], "output_padding": [0, 2]}, {"dilation": 3, "output_padding": 2}):
        case(g, "conv_transpose2d", dtype, (2, 3, 4, 3), (3, 4, 3, 3), turned=True, **kwargs)
    case(g, "conv_transpose2d", dtype, (2, 4, 3, 3), (4, 3, 2, 2), turned=True, groups=2, stride=2)
    case(g, "conv_transpose2d", dtype, (3, 3, 3), (3, 2, 2, 2), turned=True)


def three_dimensions(g, dtype):
    for kwargs in ({}, {"stride": 2, "padding": 1}, {"padding": "same"}, {"dilation": [1, 2, 1]}, {"stride": [1, 2, 1], "padding": [1, 0, 1]}):
        case(g, "conv3d", dtype, (1, 2, 4, 5, 4), (3, 2, 3, 2, 3), **kwargs)
    case(g, "conv3d", dtype, (1, 4, 3, 3, 3), (4, 2, 2, 2, 2), groups=2)
    case(g, "conv3d", dtype, (2, 3, 3, 3), (2, 2, 2, 2, 2))
    for kwargs in ({}, {"stride": 2, "padding": 1, "output_padding": 1}):
        case(g, "conv_transpose3d", dtype, (1, 2, 3, 2, 3), (2, 3, 2, 3, 2), turned=True, **kwargs)


def rest(g):
    for dtype in (torch.float16, torch.bfloat16):
        case(g, "conv1d", dtype, (2, 3, 9), (4, 3, 3), padding=1)
        case(g, "conv2d", dtype, (2, 3, 5, 5), (4, 3, 3, 3), padding=1)
        case(g, "conv2d", dtype, (2, 4, 5, 5), (4, 2, 3, 3), groups=2, stride=2)
    case(g, "conv_transpose2d", torch.bfloat16, (2, 3, 3, 3), (3, 2, 3, 3), turned=True, stride=2)
    for dtype in (torch.float32, torch.float64):
        case(g, "conv2d", dtype, (0, 3, 5, 5), (4, 3, 3, 3))
        case(g, "conv1d", dtype, (0, 3, 5), (4, 3, 3))
        case(g, "conv2d", dtype, (2, 8, 8, 8), (8, 8, 3, 3), padding=1, grad=False)
        case(g, "conv2d", dtype, (1, 3, 14, 14), (4, 3, 7, 7), stride=2, padding=3, grad=False)
        g.add("convolution", Arg(values(dtype, 2, 3, 5, 5), grad=True), Arg(values(dtype, 4, 3, 3, 3), grad=True), None, [2, 1], [1, 1], [1, 1], False, [0, 0], 1, via="f", loose=16)
        g.add("convolution", Arg(values(dtype, 2, 3, 4, 4), grad=True), Arg(values(dtype, 3, 2, 3, 3), grad=True), Arg(values(dtype, 2), grad=True), [2], [1], [1], True, [1], 1, via="f", loose=16)


def columns(g):
    for dtype in FLOATS:
        for kwargs in ({}, {"stride": 2}, {"padding": 1}, {"dilation": 2}, {"stride": [2, 1], "padding": [0, 1], "dilation": [1, 2]}):
            g.add("unfold", Arg(values(dtype, 1, 3, 5, 6), grad=True), [2, 3], run=F.unfold, via="F", **kwargs)
        g.add("unfold", Arg(values(dtype, 2, 4, 4), grad=True), 3, run=F.unfold, via="F")
        g.add("unfold", Arg(values(dtype, 0, 2, 4, 4)), 3, run=F.unfold, via="F")
        if dtype is torch.float16:
            continue  # summed in half precision there
        g.add("fold", Arg(values(dtype, 1, 18, 20), grad=True), [5, 7], [2, 3], run=F.fold, via="F")
        g.add("fold", Arg(values(dtype, 2, 12, 9), grad=True), [6, 6], 2, run=F.fold, via="F", stride=2)
        g.add("fold", Arg(values(dtype, 12, 25), grad=True), [4, 4], 2, run=F.fold, via="F", padding=1)
        g.add("fold", Arg(values(dtype, 1, 8, 4), grad=True), [4, 4], 2, run=F.fold, via="F", dilation=2)


def errors(g):
    def wrong(op, *shapes, message, **kwargs):
        g.fails(op, *[s if isinstance(s, Arg) else Arg(torch.ones(s)) for s in shapes], message=message, run=getattr(F, op), via="F", **kwargs)

    x, w = (1, 3, 5, 5), (2, 3, 3, 3)
    wrong("conv2d", x, (2, 4, 3, 3), message="Given groups=1, weight of size [2, 4, 3, 3], expected input[1, 3, 5, 5] to have 4 channels, but got 3 channels instead")
    wrong("conv2d", x, w, (3,), message="Given weight of size [2, 3, 3, 3], expected bias to be 1-dimensional with 2 elements, but got bias of size [3] instead")
    wrong("conv2d", x, (3, 3, 3, 3), groups=2, message="Given groups=2, expected weight to be divisible by 2 at dimension")
    wrong("conv2d", x, (1, 3, 3, 3), groups=2, message="Given groups=2, expected weight to be at least 2 at dimension")
    wrong("conv2d", (1, 3, 2, 2), w, message="Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual input size")
    wrong("conv2d", x, w, padding=-1, message="negative padding is not supported")
    wrong("conv2d", x, w, stride=0, message="non-positive stride is not supported")
    wrong("conv2d", x, w, dilation=0, message="dilation should be greater than zero, but got [0, 0]")
    wrong("conv2d", x, w, groups=0, message="non-positive groups is not supported")
    wrong("conv2d", x, w, stride=[1, 1, 1], message="expected stride to be a single integer value or a list of 2 values to match the convolution dimensions, but got stride=[1, 1, 1]")
    wrong("conv2d", x, w, padding=[1, 1, 1], message="expected padding to be a single integer value or a list of 2 values to match the convolution dimensions, but got padding=[1, 1, 1]")
    wrong("conv2d", x, w, dilation=[1, 1, 1], message="expected dilation to be a single integer value or a list of 2 values to match the convolution dimensions, but got dilation=[1, 1, 1]")
    wrong("conv2d", (5, 5), w, message="Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [5, 5]")
    wrong("conv1d", (1, 3, 5, 5), w, message="Expected 2D (unbatched) or 3D (batched) input to conv1d, but got input of size: [1, 3, 5, 5]")
    wrong("conv2d", x, Arg(torch.ones(w, dtype=torch.float64)), message="expected scalar type Float but found Double")
    wrong("conv2d", x, w, Arg(torch.ones(2, dtype=torch.float64)), message="Input type (float) and bias type (double) should be the same")
    wrong("conv2d", x, w, padding="foo", message="Invalid padding string: 'foo'")
    wrong("conv2d", x, w, padding="same", stride=2, message="padding='same' is not supported for strided convolutions")
    wrong("conv_transpose2d", x, w, message="Given transposed=1, weight of size [2, 3, 3, 3], expected input[1, 3, 5, 5] to have 2 channels, but got 3 channels instead")
    wrong("conv_transpose2d", (1, 2, 5, 5), w, (2,), message="weight of size [2, 3, 3, 3], expected bias to be 1-dimensional with 3 elements, but got bias of size [2] instead")
    wrong("conv_transpose2d", (1, 2, 5, 5), w, output_padding=-1, message="negative output_padding is not supported")
    wrong("conv_transpose2d", (1, 2, 1, 1), w, padding=2, message="Given input size per channel: (1 x 1). Calculated output size per channel: (-1 x -1). Output size is too small")
    wrong("conv_transpose2d", (5, 5), w, message="Expected 3D (unbatched) or 4D (batched) input to conv_transpose2d, but got input of size: [5, 5]")
    wrong("conv_transpose2d", (1, 2, 5, 5), w, output_padding=1, message="output padding must be smaller than either stride or dilation")
    wrong("unfold", x, kernel_size=6, message="Given input with spatial size (5, 5), kernel_size=(6, 6), dilation=(1, 1), padding=(0, 0), calculated shape of the array of sliding blocks as (0, 0), but its components must be at least one.")
    wrong("unfold", x, kernel_size=0, message="kernel size should be greater than zero, but got kernel_height: 0 kernel_width: 0")
    wrong("unfold", x, kernel_size=2, stride=0, message="stride should be greater than zero, but got stride_height: 0 stride_width: 0")
    wrong("unfold", x, kernel_size=2, padding=-1, message="padding should be non-negative, but got pad_height: -1 pad_width: -1")
    wrong("unfold", x, kernel_size=[2, 2, 2], message="It is expected kernel_size equals to 2, but got size 3")
    wrong("fold", (1, 12, 15), output_size=[5, 5], kernel_size=2, message="Given output_size=(5, 5), kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0), stride=(1, 1), expected size of input's dimension")
    wrong("fold", (1, 11, 16), output_size=[5, 5], kernel_size=2, message="to be divisible by the product of kernel_size")
    wrong("fold", (16,), output_size=[5, 5], kernel_size=2, message="Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: [16]")


def write(path):
    g = Group()
    for dtype in (torch.float32, torch.float64):
        one_dimension(g, dtype)
        two_dimensions(g, dtype)
        three_dimensions(g, dtype)
    rest(g)
    columns(g)
    errors(g)
    return g.write(path, "Convolutions, windows as columns.")
