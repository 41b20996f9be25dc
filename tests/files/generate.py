"""Writes the files of this folder with NumPy and PyTorch: what tests/lua/formats_spec.lua reads.

Run by hand: `python tests/files/generate.py`. The suite itself needs no Python.
"""

import argparse
import collections
import io
import os
import pathlib
import pickle
import struct
import tarfile
import types
import zipfile

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))


def at(name):
    return os.path.join(HERE, name)


def swapped(source, target):
    """A .pt file of float32 as a big-endian machine writes it."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if "/data/" in name:
                content = np.frombuffer(content, "<f4").astype(">f4").tobytes()
            if name.endswith("/byteorder"):
                content = b"big"
            new.writestr(name, content)


class Hostile:
    """Unpickles to the result of a call."""

    def __init__(self, function, *arguments):
        self.call = (function, arguments)

    def __reduce__(self):
        return self.call


def archive(name, content):
    with zipfile.ZipFile(at(name), "w") as file:
        file.writestr("archive/data.pkl", content)
        file.writestr("archive/version", "3\n")


def arrays():
    order = np.arange(6).reshape(2, 3)
    for code in ("|b1", "|u1", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", ">i2", ">i4", ">i8", ">f2", ">f4", ">f8"):
        kind = {"<": "little", ">": "big", "|": "byte"}[code[0]]
        np.save(at(f"{kind}_{code[1:]}.npy"), (order - 1).astype(code))
    np.save(at("fortran.npy"), np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)))
    np.save(at("scalar.npy"), np.float64(2.5))
    np.save(at("empty.npy"), np.zeros((0, 3), np.float32))
    for version in ((2, 0), (3, 0)):
        with open(at(f"version{version[0]}.npy"), "wb") as file:
            np.lib.format.write_array(file, order, version)
    np.save(at("records.npy"), np.zeros(2, [("a", "<i4"), ("b", "<f8")]))
    np.save(at("objects.npy"), np.array([{}], object), allow_pickle=True)
    np.save(at("complex.npy"), np.zeros(2, "<c8"))
    np.savez(at("texts.npz"), numbers=np.array([1, 2]), words=np.array(["ab", "four"]), objects=np.array([{}], object),
             records=np.zeros(2, [("a", "<i4")]), last=np.array([3]))
    np.savez(at("stored.npz"), b=np.arange(3), a=np.ones((2, 2), np.float32), c=np.array(True))
    np.savez_compressed(at("deflated.npz"), zeros=np.zeros((40, 50)), counts=np.arange(100, dtype=np.int16))


FLOAT8 = ("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu")


def checkpoints():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    net(torch.tensor([[1.0, 2.0], [3.0, -4.0]])).square().sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [3, 5])
    torch.save(net.state_dict(), at("state_dict.pt"))
    torch.save({"model": net.state_dict(), "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
                "epoch": 3}, at("checkpoint.pt"))
    base = torch.arange(12.0)
    torch.save({"all": base, "transposed": base.view(3, 4).t(), "stepped": base[3:9:2], "expanded": base[1:2].expand(2, 3),
                "empty": torch.zeros(0, 3), "scalar": torch.tensor(7)}, at("views.pt"))
    values = torch.tensor([0, 1, 2, 100])
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    torch.save({name: values.to(getattr(torch, name)) for name in names}, at("dtypes.pt"))
    codes = torch.arange(256, dtype=torch.uint8)
    torch.save({kind: codes.view(getattr(torch, kind)) for kind in FLOAT8} | {
        "matrix": codes.view(torch.float8_e4m3fn).view(16, 16).t(), "parameter": torch.nn.Parameter(codes[:4].view(torch.float8_e5m2)),
        "weight": torch.ones(2)}, at("float8.pt"))
    plain = {"big": 2**70, "wide": -(2**40), "least": -(2**63), "bytes": b"a\xff\0", "none": None, "list": [1, None, "x", 2.5],
             "tuple": (1, (2, 3)), "size": torch.Size([2, 3]), "dtype": torch.bfloat16, "device": torch.device("cuda:1"),
             "true": True, "text": "\u00e9", "default": collections.defaultdict(list, {"a": [1]}), "none_at": {0: None, 1: 5},
             "ordered": collections.OrderedDict([("z", 1), ("a", 2)]), "numbered": collections.OrderedDict([(3, "x")]),
             "parameter": torch.nn.Parameter(torch.ones(2)), "frozen": torch.nn.Parameter(torch.ones(1), False)}
    noted = torch.ones(3)
    noted.note = "a field of its own"
    torch.save(plain | {"noted": noted}, at("values.pt"))
    torch.save(plain, at("protocol4.pt"), pickle_protocol=4)
    torch.save({"x": torch.tensor([1.5, -2.0])}, at("little.pt"))
    swapped(at("little.pt"), at("big.pt"))


def python_data():
    """What weights_only reads besides tensors, and what it reads where the program allows it."""
    value = {"bytearray": bytearray(b"a\xff\0b"), "complex": 1.5 - 2j, "set": {3}, "conj": torch.tensor([1 + 2j, 3 - 1j]).conj(),
             "neg": torch.tensor([1 + 2j]).conj().imag, "dtype": torch.float32, "device": torch.device("cuda:1"), ("a", 1): "tuple",
             (1,): 2, None: 3, float("nan"): 4, (1, (0.1, True, None, "it's\n")): 5, tuple(range(100)): 6}
    value["loop"] = [1]
    value["loop"].append(value["loop"])
    value["self"] = value
    numbers = np.arange(6).reshape(2, 3)
    allowed = {"f8": np.float64(2.5), "i4": np.int32(-7), "bool": np.bool_(True), "c8": np.complex64(1 + 2j), "u8": np.uint64(2**64 - 1),
               "str": np.str_("h\u00e9"), "bytes": np.bytes_(b"ab"), "f4": numbers.astype("f4"), "big": numbers.astype(">i4"),
               "fortran": np.asfortranarray(numbers.astype("f8")), "texts": np.array(["ab", "c"]), "empty": np.zeros((0, 3)),
               "zero": np.array(5), "dtype": np.dtype("f4"), "path": pathlib.PosixPath("/a/b"), "relative": pathlib.PosixPath("a/b"),
               "namespace": argparse.Namespace(lr=0.1, names=["x"]), "simple": types.SimpleNamespace(k=1),
               "frozen": frozenset([1]), "deque": collections.deque([1, 2], 5)}
    for protocol in (2, 4, 5):
        torch.save(value, at(f"python_data_{protocol}.pt"), pickle_protocol=protocol)
        torch.save(allowed, at(f"allowed_data_{protocol}.pt"), pickle_protocol=protocol)


def legacy(name, value):
    torch.save(value, at(name), _use_new_zipfile_serialization=False)


class Named(str):
    """A string that a pickle refers to by a persistent id."""


class TarPickler(pickle.Pickler):
    def persistent_id(self, value):
        return str(value) if isinstance(value, Named) else None


def tar_archive(name):
    """A file as PyTorch wrote it before 0.1.10: two tensors in one storage, one of them through a view of the storage."""
    elements = np.arange(6, dtype="<f4")
    storages, tensors, value = io.BytesIO(), io.BytesIO(), io.BytesIO()
    pickle.dump(1, storages, 2)
    pickle.dump((11, "cpu", torch.FloatStorage), storages, 2)
    storages.write(struct.pack("<q", len(elements)) + elements.tobytes())
    pickle.dump([(12, 11, 2, 4)], storages, 2)
    pickle.dump(2, tensors, 2)
    for key, storage, shape, stride, offset in ((21, 11, (2, 3), (3, 1), 0), (22, 12, (3,), (1,), 1)):
        pickle.dump((key, storage, torch.FloatTensor), tensors, 2)
        tensors.write(struct.pack("<iI", len(shape), 0))
        tensors.write(struct.pack(f"<{2 * len(shape) + 1}q", *shape, *stride, offset))
    TarPickler(value, 2).dump(collections.OrderedDict([("weight", Named("21")), ("part", Named("22")), ("epoch", 3)]))
    with tarfile.open(at(name), "w:", format=tarfile.PAX_FORMAT) as tar:
        for member, content in (("sys_info", io.BytesIO(pickle.dumps({}, 2))), ("pickle", value), ("tensors", tensors),
                                ("storages", storages)):
            info = tarfile.TarInfo(member)
            info.size = len(content.getvalue())
            tar.addfile(info, io.BytesIO(content.getvalue()))


def view_of_storage(name):
    """A stream as PyTorch 0.2 wrote a tensor in a part of a storage: the persistent id says which part."""
    class Id(tuple):
        pass

    class Pickler(pickle.Pickler):
        def persistent_id(self, value):
            return tuple(value) if isinstance(value, Id) else None

    class Rebuilt:
        def __init__(self, view):
            self.view = view

        def __reduce__(self):
            whole = Id(("storage", torch.FloatStorage, "root", "cpu", 6, self.view))
            return torch._utils._rebuild_tensor, (whole, 0, (2,), (1,))

    elements = np.arange(6, dtype="<f4")
    with open(at(name), "wb") as file:
        pickle.dump(0x1950A86A20F9469CFC6C, file, 2)
        pickle.dump(1001, file, 2)
        pickle.dump({"protocol_version": 1001, "little_endian": False}, file, 2)
        Pickler(file, 2).dump({"first": Rebuilt(None), "part": Rebuilt(("part", 3, 2)), "same": Rebuilt(("part", 3, 2))})
        pickle.dump(["root"], file, 2)
        file.write(struct.pack("<q", 6) + elements.tobytes())


def before_1_6():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    optimizer = torch.optim.Adam(net.parameters(), 0.01)
    net(torch.tensor([[1.0, 2.0], [3.0, -4.0]])).square().sum().backward()
    optimizer.step()
    legacy("legacy.pt", torch.ones(2))
    legacy("checkpoint_legacy.pt", {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 3,
                                    "parameter": torch.nn.Parameter(torch.ones(2))})
    base = torch.arange(12.0)
    legacy("views_legacy.pt", {"all": base, "transposed": base.view(3, 4).t(), "stepped": base[3:9:2],
                               "empty": torch.zeros(0, 3), "scalar": torch.tensor(7)})
    values = torch.tensor([0, 1, 2, 100])
    names = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
    legacy("dtypes_legacy.pt", {name: values.to(getattr(torch, name)) for name in names})
    tar_archive("tar.pt")
    view_of_storage("storage_view.pt")
    for name in ("tar.pt", "storage_view.pt"):
        print(name, torch.load(at(name), weights_only=False))


def normed():
    """Modules with weight_norm and spectral_norm, old and new: their states, what they give and the gradients."""
    utils, new = torch.nn.utils, torch.nn.utils.parametrizations
    makers = {"linear": lambda: torch.nn.Linear(3, 2), "conv": lambda: torch.nn.Conv2d(2, 3, 2),
              "transposed": lambda: torch.nn.ConvTranspose2d(2, 3, 2)}
    norms = {"weight_norm": utils.weight_norm, "spectral_norm": utils.spectral_norm, "new_weight_norm": new.weight_norm,
             "new_spectral_norm": new.spectral_norm}
    found = {}
    for kind, make in makers.items():
        for name, norm in norms.items():
            torch.manual_seed(4)
            module = norm(make())
            drawn = {key: value.clone() for key, value in module.state_dict().items()}
            x = torch.randn((4, 3) if kind == "linear" else (1, 2, 4, 4))
            with torch.no_grad():
                for parameter in module.parameters():
                    parameter.mul_(1.5)
            state = {key: value.clone() for key, value in module.state_dict().items()}
            y = module(x)
            y.square().sum().backward()
            found[f"{kind} {name}"] = {"kind": kind, "norm": name, "drawn": drawn, "state": state, "x": x, "y": y.detach(),
                                       "after": module.state_dict(), "evaluated": module.eval()(x).detach(),
                                       "gradients": {key: p.grad for key, p in module.named_parameters()}}
    torch.save(found, at("norms.pt"))


def refused():
    torch.save(torch.nn.Linear(2, 2), at("module.pt"))
    legacy("module_legacy.pt", torch.nn.Linear(2, 2))
    legacy("system_legacy.pt", Hostile(os.system, "touch /tmp/hostile"))
    torch.save(torch.zeros(2, dtype=torch.complex64), at("complex.pt"))
    torch.save(torch.eye(2).to_sparse(), at("sparse.pt"))
    script = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.ReLU()), script)
    with open(at("script.pt"), "wb") as file:
        file.write(script.getvalue())
    for protocol in (2, 4):
        archive(f"system{protocol}.pt", pickle.dumps(Hostile(os.system, "touch /tmp/hostile"), protocol))
    archive("eval.pt", pickle.dumps(Hostile(eval, "1"), 2))


arrays()
checkpoints()
python_data()
before_1_6()
normed()
refused()
