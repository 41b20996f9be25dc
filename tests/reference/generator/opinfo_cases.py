"""Small samples of PyTorch's database of operators, for every op that is there too: of each op those that differ in what
they are made of - dimensions, empty and one-element sizes, broadcasting, signs and values of arguments, each named
argument - and one whose tensors do not lie in a row. In double precision with gradients, and in one other dtype."""

import warnings

import torch

from . import lua
from .declared import overloads
from .opinfo import Case, Given, flattened, op_db

# Layers, losses and sums with products (addr, addbmm) round every step in half types there: they have others.
OTHERS = (torch.int64, torch.float32, torch.uint8, torch.bool, torch.int32, torch.bfloat16, torch.int16, torch.float16, torch.int8)
HALF = (torch.bfloat16, torch.float16)

LEFT_OUT = {
    "random numbers: random.lua, draws.lua and distributions.lua have them":
        """normal bernoulli multinomial randint randint_like rand_like randn randn_like nn.functional.rrelu nn.functional.dropout nn.functional.dropout2d
        nn.functional.dropout3d nn.functional.alpha_dropout nn.functional.feature_alpha_dropout svd_lowrank pca_lowrank""",
    "their values are whatever the memory holds": "empty empty_like empty_strided new_empty",
    "signs of factors are free": "svd linalg.svd linalg.eigh linalg.qr qr",
    "the sample is changed in place: in_place rows have it": "zero_",
    "PyTorch's trigamma is good for ten digits: library.lua": "polygamma special.polygamma",
    "PyTorch's loses digits in float32 and more in half types: library.lua": "matrix_exp linalg.matrix_exp",
    "what is overwritten has a gradient there, and the memory between the elements is seen: library.lua": "as_strided_scatter",
    "PyTorch's are good for eight digits in double precision: special.lua has them by mpmath":
        "special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1",
}

# Of whose samples some are left out: a test of the sample, and why.
SAMPLES_LEFT_OUT = {
    "nn.functional.scaled_dot_product_attention": (lambda s: s.kwargs.get("dropout_p", 0) > 0, "random numbers"),
    "nn.functional.batch_norm": (lambda s: s.kwargs.get("training"), "running statistics are changed: modules.lua has them"),
    "nn.functional.embedding": (lambda s: s.kwargs.get("sparse"), "its gradient is sparse: sparse.lua has it"),
    "nn.functional.embedding_bag": (lambda s: s.kwargs.get("sparse"), "its gradient is sparse: sparse.lua has it"),
    "nn.functional.instance_norm": (lambda s: "running_mean" in s.kwargs, "running statistics are changed: modules.lua has them"),
    "masked.norm": (lambda s: s.args and abs(s.args[0]) == float("inf"), "of nothing but what is masked out it is infinite, and infinity times 0 is a matter of the order"),
    "linalg.pinv": (lambda s: s.kwargs.get("hermitian"), "the sample is not hermitian: which half is read is free"),
}

# Gradients that are PyTorch's own convention.
WITHOUT_GRADIENT = {
    "nn.functional.ctc_loss": "with respect to unnormalized probabilities: it is the same behind log_softmax",
    "nn.functional.hardsigmoid": "1/6 is of single precision there",
    "cholesky_inverse": "the triangle that is not read has one, too",
    "cholesky_solve": "the triangle that is not read has one, too",
    "digamma": "polygamma(1, x) is good for ten digits there",
}

# By LAPACK, which GPUs do not have here.
LAPACK = set("""cholesky inverse det slogdet logdet pinverse linalg.cholesky linalg.inv linalg.det linalg.slogdet linalg.pinv linalg.lstsq linalg.eigvalsh
    linalg.matrix_norm linalg.matrix_power linalg.matrix_rank linalg.norm linalg.solve linalg.solve_triangular linalg.svdvals norm-nuc""".split())

# Samples of more elements are only kept while an op's rows are few bytes.
MOST_ELEMENTS, MOST_OF_ONE, MOST_ROWS = 40, 400, 20


def summary(value):
    """What a test could depend on in an argument that is no tensor."""
    if isinstance(value, (list, tuple)):
        return ("list", len(value), tuple(summary(v) for v in value[:3]))
    if isinstance(value, int) and not isinstance(value, bool):
        return max(-4, min(4, value))
    if isinstance(value, float):
        return ("float", (value > 0) - (value < 0), abs(value) < 1)
    return str(value)


def features(case):
    """What the call is made of; a call with nothing new is not kept."""
    found = set()
    shapes = []
    for i, t in enumerate(case.tensors):
        view = t.view()
        shapes.append(view.shape)
        found |= {("dims", i, view.dim()), ("dtype", i, view.dtype is case.tensors[0].base.dtype), ("row", i, view.is_contiguous()),
                  ("empty", i, view.numel() == 0, view.dim()), ("ones", i, 1 in view.shape)}
    for shape in shapes[1:]:
        found.add(("beside", len(shape) - len(shapes[0]), [a != b for a, b in zip(shape[::-1], shapes[0][::-1])].count(True)))
    for at, value in enumerate(case.sample.args):
        if not any(isinstance(v, Given) for v in flattened(value)):
            found |= {("argument", at, summary(value)), ("arguments", at)}
    for name, value in case.sample.kwargs.items():
        found |= {("named", name), ("named", name, "tensor" if isinstance(value, Given) else summary(value))}
    for i, out in enumerate(case.outs[:4]):
        if isinstance(out, torch.Tensor):
            found |= {("result", i, out.dim()), ("no result", i, out.numel() == 0)}
    return found


def elements(case):
    return sum(t.base.numel() for t in case.tensors) + sum(o.numel() for o in case.outs if isinstance(o, torch.Tensor))


def made(op, samples, **how):
    """The samples that can be a row, small ones first; those with values short to write where that is possible."""
    cases = []
    for sample in samples:
        numel = sum(v.numel() for v in flattened((sample.input, sample.args, sample.kwargs)) if isinstance(v, torch.Tensor))
        if numel > MOST_OF_ONE:
            continue
        for tidy in (True, False):
            case = Case(op, sample, tidy=tidy, **how)
            if case.row:
                cases.append(case)
                break
    return sorted(cases, key=lambda case: (elements(case), case.row))  # some samples come in the order of a set


def chosen(cases, most_bytes):
    rows, seen, size = [], set(), 0
    for case in cases:
        new = features(case) - seen
        if new and elements(case) <= (MOST_ELEMENTS if size > most_bytes else MOST_OF_ONE) and len(rows) < MOST_ROWS:
            seen |= new
            size += len(case.row)
            rows.append(case.row)
    return rows


def samples_of(op, dtype):
    torch.manual_seed(20)
    leave = SAMPLES_LEFT_OUT.get(op.name, (lambda s: False,))[0]
    return [s for s in op.sample_inputs("cpu", dtype, requires_grad=False) if not leave(s)]


def rows_of(op, number):
    dtypes = op.supported_dtypes("cpu")
    rows = []
    if torch.float64 in dtypes:
        samples = samples_of(op, torch.float64)
        with_gradient = op.supports_autograd and op.name not in WITHOUT_GRADIENT
        rows += chosen(made(op, samples, grad=with_gradient), 1300)
        laid = [case for case in made(op, samples, layout=True) if case.tensors and 6 <= elements(case) <= MOST_OF_ONE and case.tensors[0].size]
        rows += [case.row for case in laid[:1]]
    for alias in op.aliases:
        if rows and alias.name in overloads():
            rows.append(rows[0].replace(f"op='{op.name}'", f"op='{alias.name}'"))
    others = [d for d in OTHERS[number % len(OTHERS):] + OTHERS if d in dtypes and not (d in HALF and op.name.startswith(("nn.", "add")))]
    if others:
        rows += chosen(made(op, samples_of(op, others[0])), 500)
    return rows


# Of torch.special's, in src/ops/rare.lua.
RARE = set("i0 igamma igammac polygamma mvlgamma gcd lcm nextafter sinc logaddexp logaddexp2".split())


def group_of(op):
    """The file that has an op's rows: by LAPACK, of the functions beside torch's own (in Lua, or asked for seldom), or the others."""
    if op.name in LAPACK or f"{op.name}-{op.variant_test_name}" in LAPACK:
        return "linalg"
    module, _, name = op.name.rpartition(".")
    declared = overloads().get(f"{module}_{name}" if module else name, [])
    beside = module in ("special", "masked", "signal.windows") or name in RARE or any(o.scripted for o in declared)
    return "library" if beside else ""


def all_rows(group):
    warnings.simplefilter("ignore")
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    rows, seen = [], set()
    for number, op in enumerate(op_db):
        if op.name in left_out or group_of(op) != group:
            continue
        for row in rows_of(op, number):
            if row not in seen:
                seen.add(row)
                rows.append(row)
    return rows


def write(path):
    return lua.write_file(path, "Samples of PyTorch's database of operators.", all_rows(""))
