"""Floats of one byte: the number of each of the 256 codes, and the codes of float32 numbers at every place where the rounding changes."""

import torch

KINDS = ("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu")


def written(values):
    return ",".join("0/0" if x != x else "1/0" if x == float("inf") else "-1/0" if x == -float("inf") else x.hex() for x in values)


def edges(values):
    """The numbers themselves, the middles between neighbours and their neighbours in float32, and beyond the ends."""
    finite = torch.unique(values[torch.isfinite(values)])
    middles = ((finite[1:].double() + finite[:-1].double()) / 2).float()
    top = finite[-1].item()
    beyond = torch.tensor([top * f for f in (1.03125, 1.0625, 1.09375, 1.125, 1.25, 1.5, 1.99, 2.0)] + [2.0**-149, 2.0**-126, 3.4e38, float("inf")])
    beyond = torch.cat([beyond, -beyond])
    up, down = torch.tensor(float("inf")), torch.tensor(-float("inf"))
    return torch.cat([finite, middles, torch.nextafter(middles, up), torch.nextafter(middles, down), beyond])


def write(path):
    out, count = ["-- Written by generate.py from PyTorch " + torch.__version__.split("+")[0] + ".", "return {"], 0
    for kind in KINDS:
        dtype = getattr(torch, kind)
        values = torch.arange(256, dtype=torch.uint8).view(dtype).float()
        inputs = edges(values)
        codes = inputs.to(dtype).view(torch.uint8).tolist()
        out.append(f"{{kind='{kind}',values={{{written(values.tolist())}}},")
        out.append(f"inputs={{{written(inputs.tolist())}}},")
        out.append(f"codes={{{','.join(map(str, codes))}}}}},")
        count += len(codes)
    path.write_text("\n".join(out + ["}", ""]))
    return count
