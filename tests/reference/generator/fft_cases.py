"""Fourier transforms: lengths of every kind, sizes, dimensions, norms, real and complex, layouts, derivatives."""

import torch

from .cases import Arg, Dim, Dims, Group, values

REALS = [torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
GRAD = {"grad": True}
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 16, 17, 24, 25, 30, 32, 49, 61, 64, 67, 81, 97, 100, 121, 128, 134, 169, 210]
LONG = [384, 1000, 1024, 1009]
ONE = {"fft": COMPLEX + REALS, "ifft": COMPLEX + REALS, "rfft": REALS, "irfft": COMPLEX, "hfft": COMPLEX, "ihfft": REALS}
MANY = {"fftn": COMPLEX + REALS, "ifftn": COMPLEX, "rfftn": REALS, "irfftn": COMPLEX, "hfftn": COMPLEX, "ihfftn": REALS}


def call(op):
    return lambda *a, f=getattr(torch.fft, op), **k: f(*a, **k).resolve_conj()


class Forms:
    def __init__(self, g):
        self.g = g

    def add(self, op, *args, **kwargs):
        self.g.add(op, *args, run=call(op), via="T", loose=8, **kwargs)


def lengths(g):
    f = Forms(g)
    for op, dtypes in ONE.items():
        for dtype in dtypes:
            for n in LENGTHS if op in ("fft", "rfft", "irfft") and dtype in (torch.complex128, torch.float64) else LENGTHS[:14]:
                if op in ("irfft", "hfft") and n == 1:
                    continue
                f.add(op, Arg(values(dtype, n)))
            f.add(op, Arg(values(dtype, 11, 6)), norm="ortho")
            f.add(op, Arg(values(dtype, 3, 70)))
            f.add(op, Arg(values(dtype, 6, 5)), dim=Dim(0), norm="forward")
            f.add(op, Arg(values(dtype, 6, 5)), 8, Dim(0))
            f.add(op, Arg(values(dtype, 6, 5)), n=3, dim=Dim(-1), norm="backward")
            f.add(op, Arg(values(dtype, 4, 6), "transpose"))
            f.add(op, Arg(values(dtype, 2, 12), "step"))
            for n in (5, 6):
                f.add(op, Arg(values(dtype, 2, n), **GRAD), norm="ortho")
                f.add(op, Arg(values(dtype, n, 3), **GRAD), n=4, dim=Dim(0))
                f.add(op, Arg(values(dtype, n, 3), **GRAD), n=7, dim=Dim(0))
    for n in LONG:
        f.add("fft", Arg(values(torch.complex128, n)))
    f.add("rfft", Arg(values(torch.float64, 1000)))
    f.add("fft", Arg(torch.arange(6)))
    f.add("rfft", Arg(torch.tensor([True, False, True])))


def shapes(g):
    f = Forms(g)
    for op, dtypes in MANY.items():
        for dtype in dtypes:
            f.add(op, Arg(values(dtype, 3, 4)))
            f.add(op, Arg(values(dtype, 3, 4, 5)), norm="ortho")
            f.add(op, Arg(values(dtype, 3, 4, 5)), dim=Dims(0, 2), norm="forward")
            f.add(op, Arg(values(dtype, 3, 4, 5)), s=[6, 3])
            f.add(op, Arg(values(dtype, 3, 4, 5), **GRAD), dim=Dims(2, 1))
            f.add(op, Arg(values(dtype, 3, 4, 5), **GRAD), s=[2, 6], dim=Dims(1, 0), norm="ortho")
            two = op[:-1] + "2"
            f.add(two, Arg(values(dtype, 2, 4, 5), **GRAD))
            f.add(two, Arg(values(dtype, 2, 4, 5)), norm="ortho")
    for n in (1, 2, 5, 8):
        f.add("fftfreq", n)
        f.add("fftfreq", n, 0.25)
        f.add("rfftfreq", n)
        f.add("rfftfreq", n, d=2.0)
    for op in ("fftshift", "ifftshift"):
        f.add(op, Arg(values(torch.float32, 5)))
        f.add(op, Arg(values(torch.complex64, 4, 5), **GRAD))
        f.add(op, Arg(values(torch.float32, 4, 5)), dim=Dim(1))
        f.add(op, Arg(values(torch.float32, 4, 5)), dim=Dims(0, 1))


def windows(g):
    for dtype in REALS:
        x = values(dtype, 2, 30)
        w = torch.hann_window(8, dtype=dtype) + 0.1
        g.add("stft", Arg(x, **GRAD), 8, return_complex=True, loose=8)
        g.add("stft", Arg(x[0].clone()), 8, hop_length=3, window=Arg(w), return_complex=True, loose=8)
        g.add("stft", Arg(x, **GRAD), 8, hop_length=4, win_length=6, window=Arg(w[:6].clone(), **GRAD), center=False, normalized=True,
              return_complex=True, loose=8)
        g.add("stft", Arg(x), 8, onesided=False, return_complex=True, pad_mode="constant", loose=8)
        z = torch.stft(x, 8, window=w, return_complex=True)
        g.add("istft", Arg(z.contiguous(), **GRAD), 8, window=Arg(w), loose=20)
        g.add("istft", Arg(z[0].contiguous()), 8, window=Arg(w), length=28, loose=20)
        g.add("istft", Arg(torch.stft(x, 8, window=w, onesided=False, return_complex=True).contiguous()), 8, window=Arg(w), onesided=False,
              normalized=True, loose=20)
    for dtype in COMPLEX:
        g.add("stft", Arg(values(dtype, 20)), 6, 3, loose=8)
    g.fails("stft", Arg(torch.ones(20)), 6, message="stft requires the return_complex parameter be given for real inputs")
    g.fails("istft", Arg(torch.ones(5, 3)), 8, message="istft requires a complex-valued input tensor")


def errors(g):
    x = Arg(values(torch.complex64, 4))
    for op, args, named, message in (
            ("fft", [x], {"norm": "other"}, 'Invalid normalization mode: "other"'),
            ("fft", [x], {"n": 0}, "Invalid number of data points (0) specified"),
            ("rfft", [x], {}, "rfft expects a real input tensor, but got ComplexFloat"),
            ("fftn", [x], {"dim": Dims(0, 0)}, "FFT dims must be unique"),
            ("fftn", [x], {"s": [1, 2], "dim": Dims(0)}, "dim and shape arguments must have the same length")):
        g.fails(op, *args, run=call(op), via="T", message=message, **named)


def write(path):
    g = Group()
    for part in (lengths, shapes, windows, errors):
        part(g)
    g.write(path, "Fourier transforms.")
    return len(g.rows)
