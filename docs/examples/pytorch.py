# pytorch.py - tensors shared with NumPy and PyTorch by DLPack, in both directions and without a copy: what one side writes the
# other sees, and the memory stays as long as either needs it. Needs the shared library, and Python's ctypes; PyTorch is left
# out where it is not installed.
#
#   python3 pytorch.py              with the library that is installed
#   python3 pytorch.py path/to/libltensor.so
import ctypes
import gc
import sys

import numpy

try:
    import torch
except ImportError:
    torch = None

library = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libltensor.so.0")


# ---- ltensor.h, as far as it is needed here ----


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int8), ("index", ctypes.c_int8)]


class Scalar(ctypes.Structure):  # of the kind LT_SCALAR_FLOAT
    _fields_ = [("kind", ctypes.c_int), ("value", ctypes.c_double), ("imaginary", ctypes.c_double)]


CPU, FLOAT32, FLOATING = Device(0, 0), 8, 2
handle, place = ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p)


def failing(name, *arguments):
    """A function that returns an lt_status, as one that raises."""
    function = library[name]
    function.restype, function.argtypes = ctypes.c_int, arguments

    def call(*values):
        if function(*values) != 0:
            raise RuntimeError(library.lt_error_message().decode())

    return call


library.lt_error_message.restype = ctypes.c_char_p
library.lt_tensor_release.argtypes = [handle]
library.lt_context_process.restype = handle
tensor_new = failing("lt_tensor_new", ctypes.c_int, Device, ctypes.c_int, ctypes.POINTER(ctypes.c_int64), place)
copy_to = failing("lt_tensor_copy_to", handle, ctypes.c_void_p, ctypes.c_size_t)
fill_ = failing("lt_fill_", handle, Scalar)
add_ = failing("lt_add_", handle, handle, Scalar)
to_dlpack = failing("lt_tensor_to_dlpack", handle, ctypes.c_bool, place)
from_dlpack = failing("lt_tensor_from_dlpack", handle, ctypes.c_bool, place)
context_memory = failing("lt_context_memory", handle, Device, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)


def bytes_in_use():
    gc.collect()
    used = ctypes.c_int64()
    context_memory(library.lt_context_process(), CPU, ctypes.byref(used), None)
    return used.value


# ---- capsules ----
#
# In Python a managed tensor lies in a capsule, whose name says of which version it is. Who takes it gives the capsule another
# name; one that nobody took gives it back when it goes.

NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
USED = {False: b"used_dltensor", True: b"used_dltensor_versioned"}

# Functions of Python itself. A capsule is passed by its address (in CPython its id), since the one that goes must not be held again.
destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, destructor)(("PyCapsule_New", ctypes.pythonapi))
capsule_is = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
capsule_get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
capsule_rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_SetName", ctypes.pythonapi))


def take(capsule):
    """The handle of a tensor over what a capsule holds; None when it was taken before."""
    for versioned, name in NAMES.items():
        if capsule_is(capsule, name):
            out = ctypes.c_void_p()
            from_dlpack(capsule_get(capsule, name), versioned, ctypes.byref(out))
            capsule_rename(capsule, USED[versioned])
            return out
    return None


@destructor
def give_back(capsule):
    library.lt_tensor_release(take(capsule))


# ---- tensors ----


class Tensor:
    """A tensor of ltensor. NumPy's and PyTorch's from_dlpack take it as it is."""

    def __init__(self, handle, shape):
        self.handle, self.shape = handle, shape

    def __del__(self):
        library.lt_tensor_release(self.handle)

    @classmethod
    def filled(cls, shape, value):
        out = ctypes.c_void_p()
        tensor_new(FLOAT32, CPU, len(shape), (ctypes.c_int64 * len(shape))(*shape), ctypes.byref(out))
        tensor = cls(out, shape)
        tensor.fill_(value)
        return tensor

    @classmethod
    def over(cls, array):
        """Over the memory of an array or a tensor of another library; here of floats of 32 bits, and contiguous."""
        try:
            capsule = array.__dlpack__(max_version=(1, 0))
        except TypeError:  # it is from before DLPack 1.0
            capsule = array.__dlpack__()
        return cls(take(id(capsule)), tuple(array.shape))

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = max_version is not None and max_version[0] >= 1
        managed = ctypes.c_void_p()
        to_dlpack(self.handle, versioned, ctypes.byref(managed))
        return capsule_new(managed, NAMES[versioned], give_back)

    def __dlpack_device__(self):
        return 1, 0  # the CPU

    def fill_(self, value):
        fill_(self.handle, Scalar(FLOATING, value))

    def add_(self, other):
        add_(self.handle, other.handle, Scalar(FLOATING, 1))

    def numbers(self):
        numbers = numpy.empty(self.shape, numpy.float32)
        copy_to(self.handle, numbers.ctypes.data, numbers.nbytes)
        return numbers.tolist()


# ---- what is shared ----

before = bytes_in_use()

# Ours there.
x = Tensor.filled((1000, 3), 1)
array = numpy.from_dlpack(x)
x.fill_(2)
print("NumPy sees what ltensor wrote:", array[999].tolist())
del x
print("NumPy holds the memory:", array.sum(), bytes_in_use() > before)
del array

# Theirs here.
array = numpy.arange(4, dtype=numpy.float32)
y = Tensor.over(array)
array[0] = 10
print("ltensor sees what NumPy wrote:", y.numbers())
y.add_(y)
print("NumPy sees what ltensor added:", array.tolist())
del array
print("ltensor holds the memory:", y.numbers())
del y

if torch is not None:
    x = Tensor.filled((2, 2), 1)
    tensor = torch.from_dlpack(x)
    tensor[0, 1] = 5
    print("ltensor sees what PyTorch wrote:", x.numbers())
    x.add_(x)
    print("PyTorch sees what ltensor added:", tensor.tolist())
    weight = torch.ones(3)
    y = Tensor.over(weight)
    y.fill_(0.5)
    print("PyTorch computes with what ltensor wrote:", weight.exp().sum().log().item())
    del x, tensor, weight, y

Tensor.filled((1000, 3), 0).__dlpack__()  # a capsule that nobody takes
print("bytes that are still in use:", bytes_in_use() - before)
