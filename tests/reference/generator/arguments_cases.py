"""The names and the order of the arguments of PyTorch's public functions, methods and constructors.

A row is {name, form, ...}: a form for each overload, 'self dim? keepdim? * dtype?': a question mark for what may be left out, * before
what has a name only, ... for any number of values. Python functions say so themselves; for the others there are the schemas of the
operators. Dimensions with names, layouts and memory formats are left out, and so is out, which is tested by out_spec.lua."""

import importlib
import inspect
import warnings

import torch

from . import lua

MODULES = """torch torch.Tensor torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrize
    torch.nn.utils.parametrizations torch.nn.utils.prune torch.nn.utils.fusion torch.nn.utils.stateless torch.linalg torch.fft torch.special torch.signal.windows torch.func
    torch.autograd torch.autograd.functional torch.autograd.forward_ad torch.autograd.graph torch.distributions
    torch.distributions.transforms torch.distributions.constraints torch.optim torch.optim.lr_scheduler torch.optim.swa_utils
    torch.utils.data torch.utils.data.distributed torch.utils.checkpoint torch.utils.dlpack torch.sparse torch.cuda torch.amp torch.random
    torch.testing torch.distributed torch.nn.parallel torch.masked torch.onnx torch.export torch.hub""".split()

# Classes whose methods are compared too.
CLASSES = """torch.nn.Module torch.nn.Sequential torch.nn.ModuleList torch.nn.ModuleDict torch.nn.ParameterList torch.nn.ParameterDict
    torch.optim.Optimizer torch.optim.LBFGS torch.optim.lr_scheduler.LRScheduler torch.optim.lr_scheduler.ReduceLROnPlateau
    torch.optim.lr_scheduler.CosineAnnealingWarmRestarts torch.distributions.Distribution torch.distributions.Normal
    torch.distributions.Categorical torch.distributions.transforms.Transform torch.optim.swa_utils.AveragedModel
    torch.utils.data.distributed.DistributedSampler torch.nn.utils.prune.BasePruningMethod torch.nn.MultiheadAttention
    torch.amp.GradScaler torch.nn.Transformer""".split()

LEFT_OUT = {"layout", "memory_format", "names", "out", "_stacklevel"}
OF_SCHEMAS = {"pin_memory", "implicit", "cudnn_enabled", "cudnn_enable", "sparse_grad"}  # of factories and of CUDA's libraries alone
KINDS = ("Dimname", "Layout", "MemoryFormat")


def text_of(parameters):
    """parameters: (name, is optional, has a name only, is any number)."""
    words, named = [], False
    for name, optional, only_named, rest in parameters:
        if rest:
            words.append("...")
            continue
        if name in LEFT_OUT:
            continue
        if only_named and not named:
            named = True
            words.append("*")
        words.append(name + ("?" if optional else ""))
    return " ".join(words)


def of_python(call, skip):
    parameters = list(inspect.signature(call).parameters.values())[skip:]
    if not skip and any(p.name == "size_average" for p in parameters):  # of functions: reduction has taken their place
        parameters = [p for p in parameters if p.name not in ("size_average", "reduce")]
    if parameters and all(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters) and len(parameters) > 1:
        return None  # it hands on what it gets
    return text_of((p.name, p.default is not p.empty, p.kind == p.KEYWORD_ONLY, p.kind == p.VAR_POSITIONAL)
                   for p in parameters if p.kind != p.VAR_KEYWORD)


def schemas():
    found = {}
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::") or schema.overload_name.endswith("out") or any(a.is_out for a in schema.arguments):
            continue
        if any(any(k in str(a.real_type) for k in KINDS[:1]) for a in schema.arguments):
            continue
        if schema.overload_name in ("int", "float", "bool", "str", "complex", "t", "Scalar_Scalar", "int_int", "float_int", "float_float", "int_float"):
            continue
        if not any("Tensor" in str(a.type) for a in list(schema.arguments) + list(schema.returns)):
            continue  # of TorchScript's numbers and lists
        if schema.name in ("aten::eq", "aten::ne", "aten::sort") and str(schema.arguments[0].type) != "Tensor":
            continue  # of TorchScript's lists
        if schema.name in ("aten::add", "aten::add_", "aten::sub", "aten::sub_", "aten::subtract", "aten::subtract_") and schema.overload_name == "Scalar":
            continue  # Python has no function of it
        found.setdefault(schema.name.removeprefix("aten::"), []).append(schema)
    return found


def of_schema(schema, first):
    """first: what stands for self; None: a method's, which has none."""
    parameters = []
    for a in schema.arguments:
        if any(k in str(a.real_type) for k in KINDS):
            continue
        name = a.name
        if name in OF_SCHEMAS:
            continue
        if name == "self":
            if first is None:
                continue
            name = first
        parameters.append((name, a.has_default_value(), a.kwarg_only, False))
    return text_of(parameters)


def op_name(module, name):
    return {"torch.linalg": "linalg_", "torch.fft": "fft_", "torch.special": "special_"}.get(module, "") + name


def forms(module, name, value, found):
    if inspect.isclass(value):
        if value.__init__ is object.__init__ or not inspect.isfunction(value.__init__):
            return None
        text = of_python(value.__init__, 1)
        return None if text is None else [text]
    value = inspect.unwrap(value) if callable(value) else value
    if inspect.isfunction(value):
        text = of_python(value, 1 if module == "torch.Tensor" else 0)
        return None if text is None else [text]
    if callable(value) and op_name(module, name) in found:
        first = None if module == "torch.Tensor" else "input"
        return sorted({of_schema(s, first) for s in found[op_name(module, name)]})
    return None


def is_ours(module, name, value):
    if name.startswith("_"):
        return False
    home = getattr(value, "__module__", None)
    return callable(value) and (module == "torch.Tensor" or home is None or str(home).startswith(("torch", "builtins", "_VariableFunctions")))


def rows():
    found, seen = schemas(), set()
    for module in MODULES:
        holder = torch.Tensor if module == "torch.Tensor" else importlib.import_module(module)
        listed = set(getattr(holder, "__all__", None) or dir(holder))
        if module == "torch":
            listed |= set(dir(torch._C._VariableFunctions))
        for name in sorted(listed):
            value = getattr(holder, name, None)
            if not is_ours(module, name, value):
                continue
            taken = forms(module, name, value, found)
            if taken is not None and (module, name) not in seen:
                seen.add((module, name))
                yield f"{module}.{name}", taken
            if module == "torch.nn" and inspect.isclass(value) and issubclass(value, torch.nn.Module) and value.forward is not torch.nn.Module.forward:
                text = of_python(value.forward, 1)
                if text is not None:
                    yield f"{module}.{name}.forward", [text]
    for path in CLASSES:
        module, name = path.rsplit(".", 1)
        value = getattr(importlib.import_module(module), name)
        for method in sorted(dir(value)):
            call = inspect.unwrap(getattr(value, method)) if not method.startswith("_") and callable(getattr(value, method)) else None
            if inspect.isfunction(call) and method != "forward":
                static = isinstance(inspect.getattr_static(value, method), (staticmethod, classmethod))
                text = of_python(call, 0 if static else 1)
                if text is not None:
                    yield f"{path}:{method}", [text]


def write(path):
    warnings.simplefilter("ignore")
    lines = ["{" + ",".join(lua.string(text) for text in (name, *taken)) + "}" for name, taken in rows()]
    return lua.write_file(path, "The arguments of PyTorch's public functions, methods and constructors.", lines)
