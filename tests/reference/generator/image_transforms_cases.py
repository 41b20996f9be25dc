"""Transforms of torchvision.transforms.v2 on random images, after a seed that also draws the image.

Needs torchvision 0.28. The transforms are written in Python; a Lua case has the same text with Lua's lists and names.
"""

import re

import torch
from torchvision.transforms import v2 as T  # noqa: F401  (the cases name it)

from . import lua

F = T.functional  # noqa: F841
SHAPES = {"float": (3, 7, 9), "bytes": (3, 7, 9), "batch": (2, 3, 5, 6), "gray": (1, 6, 5), "tall": (3, 11, 4), "video": (2, 2, 3, 4, 5)}
BOTH = ["float", "bytes"]

CASES = [
    ("T.Resize(4)", ["float", "bytes", "batch", "tall", "video"]), ("T.Resize([12, 10])", ["float", "bytes"]),
    ("T.Resize(4, max_size=8)", ["float", "tall"]), ("T.Resize(None, max_size=6)", ["float", "tall"]),
    ("T.Resize([5, 6], antialias=False)", BOTH), ("T.Resize([5, 6], interpolation='nearest')", BOTH),
    ("T.Resize([5, 12], interpolation='nearest-exact')", BOTH), ("T.Resize([5, 12], interpolation='bicubic')", BOTH),
    ("T.Resize([4, 3], interpolation='lanczos')", ["float"]), ("T.Resize(7)", ["float"]),
    ("T.CenterCrop(4)", ["float", "bytes", "batch"]), ("T.CenterCrop([10, 4])", ["float", "bytes"]), ("T.CenterCrop([9, 12])", ["gray", "video"]),
    ("T.RandomCrop(4)", ["float", "bytes", "batch"]), ("T.RandomCrop([6, 3], padding=[1, 2])", ["float", "gray"]),
    ("T.RandomCrop([8, 12], pad_if_needed=True, padding_mode='reflect')", ["float"]), ("T.RandomCrop([7, 9])", ["float"]),
    ("T.RandomCrop(7, padding=[1, 2, 3, 4], fill=[0.1, 0.2, 0.3])", ["float"]), ("T.RandomCrop(5, padding=1, padding_mode='edge')", ["bytes"]),
    ("T.RandomResizedCrop(5)", ["float", "bytes", "batch", "tall"]), ("T.RandomResizedCrop([4, 6], scale=[0.5, 0.9], ratio=[0.9, 1.2])", ["float"]),
    ("T.RandomResizedCrop(4, scale=[1.0, 1.0], ratio=[1.0, 1.0])", ["tall", "float"]), ("T.RandomResizedCrop(4, interpolation='bicubic', antialias=False)", BOTH),
    ("T.Pad(2)", ["float", "bytes", "video"]), ("T.Pad([1, 2], fill=3)", BOTH), ("T.Pad([1, 2, 3, 0], fill=[0.5, 0.25, 1.0])", ["float"]),
    ("T.Pad([1, 0], fill=[7, 8, 9])", ["bytes"]),
    ("T.Pad([2, 1], padding_mode='edge')", BOTH), ("T.Pad([2, 1], padding_mode='reflect')", BOTH), ("T.Pad([2, 1], padding_mode='symmetric')", BOTH),
    ("T.RandomHorizontalFlip()", ["float", "bytes", "batch"]), ("T.RandomVerticalFlip(p=0.9)", ["float", "batch"]), ("T.RandomHorizontalFlip(p=0.0)", ["float"]),
    ("T.Grayscale()", ["float", "bytes", "batch", "gray"]), ("T.Grayscale(3)", ["float", "gray"]), ("T.RandomGrayscale(p=0.9)", ["float", "bytes"]),
    ("T.ColorJitter(brightness=0.5)", ["float", "bytes", "gray"]), ("T.ColorJitter(contrast=0.5)", ["float", "bytes", "gray", "batch"]),
    ("T.ColorJitter(saturation=[0.2, 3.0])", ["float", "bytes", "gray"]), ("T.ColorJitter(hue=0.5)", ["float", "bytes", "batch"]),
    ("T.ColorJitter(0.4, 0.4, 0.4, 0.1)", ["float", "bytes", "batch"]), ("T.ColorJitter()", ["float"]),
    ("T.ToDtype(torch.float32, scale=True)", BOTH), ("T.ToDtype(torch.uint8, scale=True)", BOTH), ("T.ToDtype(torch.float64)", ["bytes"]),
    ("T.ToDtype(torch.int16, scale=True)", BOTH), ("T.ToDtype(torch.int32, scale=True)", ["bytes"]),
    ("T.Normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])", ["float", "batch"]), ("T.Normalize([0.5], [0.25])", ["float"]),
    ("T.RandomErasing(p=1.0)", ["float", "bytes", "batch"]), ("T.RandomErasing(p=1.0, value='random')", ["float", "tall"]),
    ("T.RandomErasing(p=1.0, scale=[0.1, 0.2], ratio=[1.0, 2.0], value=[1, 2, 3])", BOTH), ("T.RandomErasing()", ["float"]),
    ("T.Compose([T.Resize(6), T.RandomHorizontalFlip(), T.CenterCrop(4), T.Normalize([0.5], [0.5])])", ["float", "batch"]),
    ("T.Compose([T.RandomApply([T.Pad(1), T.ColorJitter(0.5)], p=0.7), T.ToDtype(torch.float32, scale=True)])", ["float", "bytes"]),
]


def as_lua(text):
    """The constructor's call in Lua: lists in braces, names in a last table."""
    text = text.replace("[", "{").replace("]", "}").replace("None", "nil").replace("True", "true").replace("False", "false")
    while True:  # the innermost call with names that is not converted yet
        found = re.search(r"\(((?:[^()]|\([^()]*\))*?)(?:, )?((?:\w+=(?:\{[^{}]*\}|[^(),{}]+)(?:, )?)+)\)", text)
        if not found:
            return text
        first = found.group(1) + ", " if found.group(1) else ""
        text = text[:found.start()] + "(" + first + "{" + found.group(2).replace("=", " = ") + "})" + text[found.end():]


def image(kind):
    return torch.randint(0, 256, SHAPES[kind], dtype=torch.uint8) if kind == "bytes" else torch.rand(SHAPES[kind])


def write(path):
    rows = []
    for text, kinds in CASES:
        for kind in kinds:
            seed = len(rows)
            torch.manual_seed(seed)
            given = image(kind)
            transform = eval(text)
            out = transform(given)
            after = torch.rand(1)
            printed = re.sub(r"((?<!Resize\()size|scale|ratio)=\[([^]]*)\]", r"\1=(\2)", str(transform))  # given as lists, which Lua prints as tuples
            rows.append(f"{{make={lua.string(as_lua(text))},kind='{kind}',shape={lua.items(SHAPES[kind])},seed={seed},"
                        f"printed={lua.string(printed)},after={lua.number(after.item())},out={lua.tensor(out)}}}")
    return lua.write_file(path, "Transforms of torchvision 0.28.", rows)
