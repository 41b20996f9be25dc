# exchange.py - tensors between Lua and NumPy, and PyTorch and pyarrow where they are installed, in one process
# (python_host.c): the memory is the same on both sides, everything is given back once, and what is read-only stays so.

import ctypes
import gc
import sys

import ltensor
import numpy as np

# NumPy speaks DLPack 1.0 since 2.1; before, it had neither bool nor anything read-only in it.
NEW = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
passed = 0


def check(condition, what):
    global passed
    if not condition:
        print(f"failed: {what}")
        print(f"{passed} passed, 1 failed")
        sys.exit(1)
    passed += 1


def lua(chunk, *args):
    return ltensor.lua("local torch = require 'torch' " + chunk, *args)


def collect():
    gc.collect()
    lua("collectgarbage() collectgarbage()")


class Lua:
    """The Lua global of a name, as libraries ask for it."""

    def __init__(self, name):
        self.name = name

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        version = f"max_version = {{{max_version[0]}, {max_version[1]}}}" if max_version else ""
        return lua(f"return {self.name}:__dlpack__{{{version}}}")

    def __dlpack_device__(self):
        return (lua(f"return (select(1, {self.name}:__dlpack_device__()))"), 0)


def refused(call, message, what):
    try:
        call()
    except Exception as error:
        check(message in str(error), f"{what}: {error}")
    else:
        check(False, what + ": no error")


# ---- NumPy ----------------------------------------------------------------------------------------------------------

# Ours there: one memory, which lives as long as either side needs it.
lua("x = torch.arange(6.0):view(2, 3)")
a = np.from_dlpack(Lua("x"))
check(a.shape == (2, 3) and a.dtype == np.float32 and a.tolist() == [[0, 1, 2], [3, 4, 5]], "an array of a tensor")
lua("x:mul_(10)")
check(a[1, 2] == 50, "what Lua writes is seen in the array")
t = np.from_dlpack(Lua("x.T"))
check(t.shape == (3, 2) and t.strides == (4, 12) and t[2, 1] == 50, "strides are kept")
start = ltensor.live()
lua("x = torch.full({100, 100}, 4)")
a = np.from_dlpack(Lua("x"))
lua("x = nil")
collect()
check(ltensor.live() > start and a.sum() == 40000, "the array holds the memory")
del a
collect()
check(ltensor.live() == start, "the memory is given back with the last array")

for dtype in (("bool",) if NEW else ()) + ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"):
    lua(f"x = torch.ones(2, {{dtype = torch.{dtype}}})")
    check(np.from_dlpack(Lua("x")).dtype == np.dtype(dtype), dtype + " of a tensor")
    ours = np.ones(2, dtype=dtype)
    check(lua("y = torch.from_dlpack(...) return tostring(y.dtype)", ours.__dlpack__()) == "torch." + dtype, dtype + " of an array")
lua("x = torch.ones(2, {dtype = torch.bfloat16})")
refused(lambda: np.from_dlpack(Lua("x")), "", "NumPy has no bfloat16")
lua("x = torch.ones(2, {requires_grad = true})")
refused(lambda: np.from_dlpack(Lua("x")), "Can't export tensors that require gradient", "gradients")
lua("x = torch.empty(0, 3)")
check(np.from_dlpack(Lua("x")).shape == (0, 3), "an empty array")

# The program's own buffer: given back once, at the end.
for versioned in (False, True) if NEW else (False,):
    before = ltensor.given_back()

    class Buffer:
        def __dlpack__(self, **_):
            return ltensor.buffer(versioned)

        def __dlpack_device__(self):
            return (1, 0)

    b = np.from_dlpack(Buffer())
    check(b.tolist() == [1, 2, 3, 4] and ltensor.given_back() == before, "the buffer is lent")
    view = b[1:]
    del b
    check(ltensor.given_back() == before, "a view holds it")
    del view
    check(ltensor.given_back() == before + 1, "it is given back once")
    ltensor.buffer(versioned)  # nobody takes it
    check(ltensor.given_back() == before + 2, "a capsule that nobody takes gives it back")

# Theirs here, by both forms of capsules.
for arguments in ({}, {"max_version": (1, 0)}) if NEW else ({},):
    a = np.arange(12, dtype=np.float64).reshape(3, 4)
    references = sys.getrefcount(a)
    lua("x = torch.from_dlpack(...)", a.__dlpack__(**arguments))
    check(lua("return x:sum():item()") == 66.0, "a tensor of an array")
    check(sys.getrefcount(a) > references, "the tensor holds the array")
    lua("x[1]:fill_(7)")
    check(a[0].tolist() == [7, 7, 7, 7], "what Lua writes is seen in the array")
    a[2, 3] = -1
    check(lua("return x[3][4]:item()") == -1.0, "what NumPy writes is seen in the tensor")
    lua("v = x[2] x = nil")
    collect()
    check(sys.getrefcount(a) > references, "a view of the tensor holds the array")
    lua("v = nil")
    collect()
    check(sys.getrefcount(a) == references, "the array is given back once")
    capsule = a.__dlpack__(**arguments)
    lua("c = ...", capsule)
    refused(lambda: lua("return ...", capsule), "holds no tensor", "a capsule is taken once")
    lua("c = nil")
    collect()
    check(sys.getrefcount(a) == references, "a capsule that Lua drops gives the array back")

a = np.arange(12).reshape(3, 4)[:, 1:3].T
lua("x = torch.from_dlpack(...)", a.__dlpack__())
check(lua("return table.concat(x:stride(), ',') .. x[2][3]:item()") == "1,410", "strides and offset of an array")
refused(lambda: lua("torch.from_dlpack(...)", np.arange(5)[::-1].__dlpack__()), "negative strides", "negative strides")
for dtype in ("complex64", "complex128"):
    a = np.array([1 + 2j, 3 - 1j], dtype)
    lua("x = torch.from_dlpack(...)", a.__dlpack__())
    check(lua("return tostring(x.dtype) .. ' ' .. tostring(x[2]:item())") == f"torch.{dtype} (3-1j)", f"{dtype} of an array")
    lua("y = x * 2")
    b = np.from_dlpack(Lua("y"))
    check(b.dtype == a.dtype and b.tolist() == [2 + 4j, 6 - 2j], f"{dtype} in an array")
for dtype in ("uint16", "uint32", "uint64"):
    a = np.array([np.iinfo(dtype).max, 7], dtype)
    lua("x = torch.from_dlpack(...)", a.__dlpack__())
    check(lua("return tostring(x.dtype)") == f"torch.{dtype}" and lua("return x:double()[1]:item()") == float(a[0]), f"{dtype} of an array")
    b = np.from_dlpack(Lua("x"))
    check(b.dtype == a.dtype and b.tolist() == a.tolist(), f"{dtype} in an array")

# Read-only arrays: read, never written, lent on as such.
if NEW:
    a = np.arange(4.0)
    a.flags.writeable = False
    lua("x = torch.from_dlpack(...)", a.__dlpack__(max_version=(1, 0)))
    check(lua("return x:sum():item()") == 6.0, "a read-only array is read")
    for write in ("x:add_(1)", "x[1] = 3", "x:view(2, 2):zero_()", "torch.exp(torch.ones(4), {out = x})", "x:copy_(torch.ones(4))",
                  "x:index_put_({torch.tensor{1}}, torch.tensor(3.0))", "x:scatter_(1, torch.tensor{1}, 3)", "x:normal_()",
                  "x:masked_fill_(x:gt(1), 0)", "x:clamp_(0, 1)", "x.data:fill_(1)", "x:detach():fill_(1)",
                  "x:requires_grad_() torch.nn.init.zeros_(x)",
                  "local p = torch.nn.Parameter(x:detach()) p.grad = torch.ones_like(x) torch.optim.SGD({p}, {lr = 1}):step()",
                  "local p = torch.nn.Parameter(x:detach()) p.grad = torch.ones_like(x) torch.optim.Adam({p}):step()"):
        refused(lambda: lua(write), "has read-only memory", write)
    check(a.tolist() == [0, 1, 2, 3], "nothing was written")
    lua("y = x:clone():add_(1) x = x:detach()")
    check(lua("return y:sum():item()") == 10.0, "a clone can be written")
    back = np.from_dlpack(Lua("x"))
    check(not back.flags.writeable and back[3] == 3, "it comes back read-only")
    del back
    refused(lambda: lua("torch.to_dlpack(x)"), "read-only", "no capsule of before 1.0 says that it is read-only")

# ---- PyTorch ----------------------------------------------------------------------------------------------------------

try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    start = ltensor.live()
    lua("x, y = torch.arange(6.0):view(2, 3), nil")
    p = torch.from_dlpack(Lua("x"))
    check(p.tolist() == [[0, 1, 2], [3, 4, 5]], "a PyTorch tensor of ours")
    p.mul_(2)
    check(lua("return x[2][3]:item()") == 10.0, "what PyTorch writes is seen in Lua")
    check(torch.utils.dlpack.from_dlpack(lua("return torch.to_dlpack(x)")).data_ptr() == p.data_ptr(), "a capsule of before 1.0")
    lua("x = torch.ones(2, 2, {dtype = torch.bfloat16})")
    check(torch.from_dlpack(Lua("x")).dtype == torch.bfloat16, "bfloat16 of ours")
    lua("x = nil")
    del p
    collect()
    for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16,
                  torch.float32, torch.float64, torch.complex64, torch.complex128):
        p = torch.ones(3, dtype=dtype)
        check(lua("return tostring(torch.from_dlpack(...).dtype)", p.__dlpack__(max_version=(1, 0))) == str(dtype), f"{dtype} of PyTorch")
    for capsule in (lambda x: x.__dlpack__(max_version=(1, 0)), torch.utils.dlpack.to_dlpack):
        memory = bytearray(24)  # whose references tell whether PyTorch's memory is in use
        references = sys.getrefcount(memory)
        p = torch.frombuffer(memory, dtype=torch.float32).view(2, 3).T
        lua("x = torch.from_dlpack(...)", capsule(p))
        lua("x[3][1] = 100")
        check(p[2, 0] == 100, "what Lua writes is seen in PyTorch")
        p[0, 1] = -5
        check(lua("return x[1][2]:item()") == -5.0, "what PyTorch writes is seen in Lua, later")
        del p
        collect()
        check(sys.getrefcount(memory) > references, "our tensor holds PyTorch's memory")
        lua("x = nil")
        collect()
        check(sys.getrefcount(memory) == references, "PyTorch's memory is given back once")
    check(ltensor.live() <= start, "all is given back")

# ---- Arrow ------------------------------------------------------------------------------------------------------------


class Array(ctypes.Structure):
    _fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.c_void_p),
                ("dictionary", ctypes.c_void_p), ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]


def struct_in(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Array.from_address(pointer(capsule, b"arrow_array"))


class Column:
    """The Lua global of a name, as libraries ask for it."""

    def __init__(self, name):
        self.name = name

    def __arrow_c_array__(self, requested_schema=None):
        return lua(f"return {self.name}:__arrow_c_array__()")


start = ltensor.live()
lua("x = torch.arange(1000):to(torch.float64)")
pair = Column("x").__arrow_c_array__()
column = struct_in(pair[1])
check((column.length, column.null_count, column.offset, column.n_buffers) == (1000, 0, 0, 2), "a column of a tensor")
lua("x = nil")
collect()
seen = np.ctypeslib.as_array(ctypes.cast(column.buffers[1], ctypes.POINTER(ctypes.c_double)), (1000,))
check(seen.sum() == 499500, "the column holds the memory")
lua("y = torch.from_arrow(...)", pair)
check(column.release is None and lua("return y:sum():item()") == 499500.0, "it is moved into a tensor")
refused(lambda: lua("torch.from_arrow(...)", pair), "used before", "a column is taken once")
del pair, column, seen
lua("y = nil")
collect()
check(ltensor.live() == start, "the memory of the column is given back")
pair = lua("return torch.to_arrow(torch.ones(100))")
del pair
collect()
check(ltensor.live() == start, "a column that nobody takes is given back")
refused(lambda: lua("", (1, 2)), "a capsule of a schema and one of an array", "other tuples")

try:
    import pyarrow
except ImportError:
    pyarrow = None
if pyarrow is not None:
    import pyarrow.compute

    types = {"bool": pyarrow.bool_(), "float16": pyarrow.float16(), "float32": pyarrow.float32(), "float64": pyarrow.float64()}
    types.update({name: getattr(pyarrow, name)() for name in ("uint8", "int8", "int16", "int32", "int64")})
    for name, kind in types.items():
        lua(f"x = torch.tensor({{1, 0, 1, 1, 0, 0, 0, 1, 1, 1}}, {{dtype = torch.{name}}})")
        a = pyarrow.array(Column("x"))
        a.validate(full=True)
        check(a.type == kind and [int(v) for v in a.to_pylist()] == [1, 0, 1, 1, 0, 0, 0, 1, 1, 1], f"{name} goes to pyarrow")
        b = pyarrow.array([1, 0, 1, 1, 0, 1]).cast(kind)
        check(lua("y = torch.from_arrow(...) return tostring(y.dtype)", b.__arrow_c_array__()) == "torch." + name, f"{name} of pyarrow")
        check(lua("return table.concat(y:int():tolist(), ' ')") == "1 0 1 1 0 1", f"{name}: the elements of pyarrow's")
        lua("y = torch.from_arrow(...)", b[2:5].__arrow_c_array__())
        check(lua("return table.concat(y:int():tolist(), ' ')") == "1 1 0", f"{name}: a slice of pyarrow's")
    lua("x, y = nil, nil")
    del a, b
    collect()

    held = pyarrow.total_allocated_bytes()
    a = pyarrow.compute.add(pyarrow.array(np.arange(10000.0)), 1)
    lua("y = torch.from_arrow(...)", a.__arrow_c_array__())
    check(lua("return y:data_ptr()") == a.buffers()[1].address, "pyarrow's memory is shared")
    check(lua("return y:sum():item()") == a.to_numpy().sum(), "and has its numbers")
    refused(lambda: lua("y:zero_()"), "has read-only memory", "pyarrow's memory is not written")
    del a
    collect()
    check(pyarrow.total_allocated_bytes() > held, "our tensor holds pyarrow's memory")
    lua("y = nil")
    collect()
    check(pyarrow.total_allocated_bytes() == held, "pyarrow's memory is given back")

    lua("y = torch.from_arrow(...)", pyarrow.array([1.5, None, 3]).__arrow_c_array__())
    check(lua("return y[1]:item() == 1.5 and y[2]:isnan():item() and y[3]:item() == 3"), "what is null is nan")
    for nulls, values in ((2, [None, 1, None]), (1, [True, None])):
        refused(lambda: lua("torch.from_arrow(...)", pyarrow.array(values).__arrow_c_array__()), f"{nulls} of {len(values)} elements are null",
                "integers and bools cannot be null")
    for values, format in ((pyarrow.array(["a"]), "'u' (text)"), (pyarrow.array([[1]]), "'+l' (lists)"), (pyarrow.nulls(2), "'n' (null)"),
                           (pyarrow.array([1], pyarrow.uint64()), "'L' (uint64)"), (pyarrow.array([1], pyarrow.date32()), "'tdD' (dates)"),
                           (pyarrow.array(["a"]).dictionary_encode(), "dictionaries (indices of format 'i')"),
                           (pyarrow.record_batch({"x": [1]}), "'+s' (structs)")):
        refused(lambda: lua("torch.from_arrow(...)", values.__arrow_c_array__()), format, "other formats")

with_arrow = f"pyarrow {pyarrow.__version__}" if pyarrow else "without pyarrow"
with_torch = f"PyTorch {torch.__version__}" if torch else "without PyTorch"
print(f"NumPy {np.__version__}, {with_torch}, {with_arrow}")
print(f"{passed} passed, 0 failed")
