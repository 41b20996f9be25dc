"""Programs that torch.export saves, loaded, run and trained by ltensor, beside PyTorch's results: as exported (training IR), and after
run_decompositions() (inference IR).

    python3 tests/models/exported.py LTENSOR [--sets own,modules,operators,torchvision,timm,transformers,torchaudio] [--match PATTERN]
        [--seconds LIMIT] [--parameters LIMIT] [--report FILE.tsv] [--forms exported,decomposed] [--verbose]

Outputs and buffers may differ by 1e-4 of their largest element, each parameter's gradient by 1e-3 of its. Where a value differs by more,
the same program in float64 by PyTorch decides: in deep networks, rounding that changes the sign before a ReLU changes gradients by more than
that, in PyTorch itself. No value of ltensor may then be farther from float64 than twice the farthest of PyTorch's, for one of three draws of
weights and inputs ("rounded" in the table). Prints what fails, a table of the sets, and a table of the operators that ltensor does not have, with the number of programs that need
them. The exit code is 1 where a program fails. Needs numpy and PyTorch 2.8 or later; a set whose packages are absent is skipped by its name.
"""
import argparse
import collections
import collections.abc
import contextlib
import copy
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings

import numpy
import torch
from torch.utils import _pytree

import networks

SEED = 42  # of the operators that draw in PyTorch's own tests
TOLERANCE, GRADIENT_TOLERANCE = 1e-4, 1e-3
HALF_TOLERANCE = 3e-2  # of float16 and bfloat16, whose sums are rounded at other places
ROUNDING = 2  # times as far as PyTorch's float32 values may ours be from its float64 values
DRAWS = 3  # of weights and inputs
FLOOR = 1e-3  # a gradient is compared within at least this part of the largest of its program
BATCH, BATCH_BYTES = 40, 1 << 28  # programs, and bytes of programs, of a process


class Skipped(Exception):
    """A model that PyTorch itself cannot build, run or export here, or beyond a limit."""


class Limit:
    """Raises after so many seconds of a block."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        def expire(*_):
            raise Skipped(f"more than {self.seconds} s")

        signal.signal(signal.SIGALRM, expire)
        signal.alarm(self.seconds)

    def __exit__(self, *_):
        signal.alarm(0)


# ---- PyTorch's results ----


def plain(x, leaf):
    """Nested arguments or results as dicts and lists, as ltensor has them. leaf: a function of a leaf."""
    if isinstance(x, collections.abc.Mapping):
        return {key: plain(value, leaf) for key, value in x.items() if value is not None or not hasattr(x, "to_tuple")}
    if isinstance(x, (list, tuple)):
        return [plain(value, leaf) for value in x]
    if not _pytree.tree_structure(x).is_leaf():
        names = [name for name, value in vars(x).items() if value is not None]
        return {name: plain(getattr(x, name), leaf) for name in names}
    return leaf(x)


def as_array(x):
    x = x.detach()
    if x.layout != torch.strided:
        x = x.to_dense()
    if x.is_floating_point() and x.dtype != torch.float64:
        x = x.float()
    return x.resolve_conj().resolve_neg().contiguous().numpy()


def weight_of(i, x):
    """The factors of an output in the loss."""
    dtype = x.dtype if x.dtype in (torch.float64, torch.complex64, torch.complex128) else torch.float32
    return (torch.arange(x.numel(), dtype=torch.float64) * 0.7 + i).cos().reshape(x.shape).to(dtype)


def reference(module, args, kwargs, with_inputs):
    """The named arrays of a call, the weights of its outputs in the loss, for each leaf of the arguments whether it has a gradient, and the
    nested result with the numbers of the outputs."""
    args, kwargs = copy.deepcopy((args, kwargs))
    leaves = _pytree.tree_leaves((args, kwargs))
    gradients = [with_inputs and isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex()) for x in leaves]
    for x, wanted in zip(leaves, gradients):
        if wanted:
            x.requires_grad_()
    torch.manual_seed(SEED)
    result, numbers = module(*args, **kwargs), itertools.count(1)
    places = plain(result if isinstance(result, tuple) else [result], lambda x: 0 if x is None else next(numbers))
    outputs = [x for x in _pytree.tree_leaves(result) if x is not None]
    saved, weights, loss = {}, {}, 0
    for i, x in enumerate(outputs, 1):
        if isinstance(x, torch.Tensor):
            saved[f"output {i}"] = as_array(x)
            if x.requires_grad:
                weights[i] = weight_of(i, x)
                loss = loss + (x.to(weights[i].dtype) * weights[i]).sum()
        elif isinstance(x, (bool, int, float)):
            saved[f"output {i}"] = numpy.asarray(x)
    if weights:
        (loss.real if loss.is_complex() else loss).backward()
    for name, parameter in module.named_parameters():
        if parameter.grad is not None:
            saved[f"gradient of {name}"] = as_array(parameter.grad)
    for i, (x, wanted) in enumerate(zip(leaves, gradients), 1):
        if wanted and x.grad is not None:
            saved[f"gradient of input {i}"] = as_array(x.grad)
    for name, buffer in module.named_buffers():
        saved[f"buffer {name}"] = as_array(buffer)
    return saved, weights, gradients, places


def dtype_of(module, leaves):
    return {x.dtype for x in [*module.parameters(), *(y for y in leaves if isinstance(y, torch.Tensor))]}


# ---- programs ----


class Job:
    """A form of a case in a folder: what ltensor has to compute, and what it computed."""

    def __init__(self, case, form, program, made, results, draw):
        self.case, self.form, self.problem, self.loaded, self.rounded, self.draw, self.is_rounding = case, form, None, False, None, draw, False
        (module, args, kwargs, _), (saved, weights, gradients, places) = made, results
        leaves, saved = _pytree.tree_leaves((args, kwargs)), dict(saved)
        kinds = [type(spec.arg).__name__ for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
        kept = [i for i, kind in enumerate(kinds) if kind != "ConstantArgument"]
        for place, i in enumerate(kept, 1):
            name = f"gradient of input {i + 1}"
            if name in saved:
                saved[f"gradient of input {place}"] = saved.pop(name)
        self.wanted = saved
        self.halved = bool({torch.float16, torch.bfloat16} & dtype_of(module, leaves))
        numbers, order = itertools.count(), {i: place for place, i in enumerate(kept, 1)}
        call = plain([args, kwargs], lambda _: order.get(next(numbers), 0))
        self.inputs = {
            "leaves": [leaves[i].detach() if isinstance(leaves[i], torch.Tensor) else leaves[i] for i in kept],
            "gradients": [gradients[i] for i in kept], "args": call[0], "kwargs": call[1], "places": places, "weights": weights, "seed": SEED}
        self.program = program

    def write(self, folder):
        os.mkdir(folder)
        torch.export.save(self.program, os.path.join(folder, "program.pt2"))
        torch.save(self.inputs, os.path.join(folder, "inputs.pt"))
        self.program = self.inputs = None
        return os.path.getsize(os.path.join(folder, "program.pt2"))

    def check(self, folder):
        def path(name):
            return os.path.join(folder, name)

        self.loaded = os.path.exists(path("loaded.txt"))
        if os.path.exists(path("problem.txt")):
            with open(path("problem.txt")) as file:
                self.problem = file.read().strip()
        elif not os.path.exists(path("result.npz")):
            self.problem = "ltensor ended without a result"
        else:
            with numpy.load(path("result.npz")) as got:
                self.problem = self.difference(got, path("program.pt2"))

    def difference(self, got, path):
        """The error of the values, or None."""
        problem = self.compared(got)
        if problem and "differs" in problem:
            # torch.export does not keep derivatives of torch.autograd.Function: the program decides.
            own = exported_results(self.case, path, self.draw)
            if own:
                self.wanted = own
                problem = self.compared(got)
        return problem

    def compared(self, got):
        for name, wanted in self.wanted.items():
            if name not in got.files:
                if name.startswith("gradient") and not wanted.any():
                    continue
                return f"no {name}"
            x, finite = got[name], numpy.isfinite(wanted)
            if x.shape != wanted.shape or x.dtype != wanted.dtype:
                return f"{name}: {x.dtype} {x.shape}, not {wanted.dtype} {wanted.shape}"
            if not self.case.is_random and not (numpy.array_equal(finite, numpy.isfinite(x)) and numpy.array_equal(x[~finite], wanted[~finite], equal_nan=True)):
                return f"{name} differs where it is not finite"
        found = {name: got[name] for name in self.wanted if name in got.files and not self.case.is_random}
        far = [(name, error) for name, error in self.errors(found, self.wanted).items() if error > self.tolerance(name)]
        if not far:
            return None
        name, error = max(far, key=lambda entry: entry[1] / self.tolerance(entry[0]))
        text = f"{name} differs by {error:.1e} of its largest element"
        exact = exact_results(self.case, self.draw)
        if any(name not in exact or exact[name].shape != x.shape for name, x in self.wanted.items()):
            return text
        ours, theirs = self.errors(found, exact), self.errors(self.wanted, exact)
        self.is_rounding = all(name.startswith("gradient") for name, _ in far)
        text += f"; from float64 ltensor's by {ours[name]:.1e}, PyTorch's by {theirs[name]:.1e}"
        for kind in ("gradient", ""):
            worst = max((error for name, error in theirs.items() if name.startswith("gradient") == bool(kind)), default=0)
            for name, error in ours.items():
                if name.startswith("gradient") == bool(kind) and not error <= max(self.tolerance(name), ROUNDING * worst):
                    return text + f"; {name} by {error:.1e}, where PyTorch's are within {worst:.1e}"
        self.rounded = text
        return None

    def tolerance(self, name):
        return HALF_TOLERANCE if self.halved else GRADIENT_TOLERANCE if name.startswith("gradient") else TOLERANCE

    def errors(self, values, others):
        """The largest difference of each value, as a part of its largest element."""
        largest = max((abs(x).max() for name, x in self.wanted.items() if name.startswith("gradient") and x.size), default=0)
        errors = {}
        for name, x in values.items():
            finite = numpy.isfinite(self.wanted[name])
            scale = max(abs(self.wanted[name][finite]).max(initial=0), FLOOR * largest if name.startswith("gradient") else 0, 1e-6)
            errors[name] = distance(x, others[name], finite) / scale
        return errors


def distance(x, y, where):
    def wide(array):
        return array[where].astype(complex if numpy.iscomplexobj(array) else float)

    return abs(wide(x) - wide(y)).max(initial=0)


def exported_results(case, path, draw):
    """The named arrays of the exported program by PyTorch; none if it cannot run it."""
    try:
        torch.manual_seed(SEED + draw)
        _, args, kwargs, _ = case.make()
        return results_of(torch.export.load(path).module(), args, kwargs, case.with_inputs)[0]
    except Exception:  # noqa: BLE001
        return None


def exact_results(case, draw):
    """The named arrays of a case in float64; none if PyTorch cannot compute them so."""

    def widened(x):
        return x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x

    try:
        torch.manual_seed(SEED + draw)
        module, args, kwargs, _ = case.make()
        return results_of(module.double(), *_pytree.tree_map(widened, (args, kwargs)), case.with_inputs)[0]
    except Exception:  # noqa: BLE001
        return {}


def results_of(module, args, kwargs, with_inputs):
    try:
        return reference(copy.deepcopy(module), args, kwargs, with_inputs)
    except (RuntimeError, NotImplementedError):
        if not with_inputs:
            raise
        return reference(copy.deepcopy(module), args, kwargs, False)  # its inputs cannot have gradients


@contextlib.contextmanager
def refused(what):
    """An exception of the block as the reason to skip the case."""
    try:
        yield
    except Skipped:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise Skipped(f"{what}: {type(error).__name__}: {lines[0]}") from error


def add_jobs(case, limits, forms, jobs, draw=0):
    """Builds, exports and runs a case; appends these forms to jobs. Raises Skipped."""
    with Limit(limits.seconds):
        torch.manual_seed(SEED + draw)
        with refused("cannot be made"):
            made = module, args, kwargs, options = case.make()
        parameters = sum(x.numel() for x in module.parameters())
        if parameters > limits.parameters:
            raise Skipped(f"{parameters / 1e6:.0f} million parameters")
        with refused("PyTorch cannot run it"):
            results = results_of(module, args, kwargs, case.with_inputs)
        with refused("torch.export.export refuses it"):
            program = torch.export.export(copy.deepcopy(module), *copy.deepcopy((args, kwargs)), **options)
        for form in forms:
            if form not in case.forms:
                continue
            with refused("run_decompositions refuses it"):
                shown = program if form == "exported" else program.run_decompositions()
            jobs.append(Job(case, form, shown, made, results, draw))


class Runs:
    """Collects jobs, runs them in few processes, and counts."""

    def __init__(self, options):
        self.ltensor, self.verbose, self.limits = os.path.abspath(options.ltensor), options.verbose, options
        self.waiting, self.bytes, self.folder = [], 0, None
        self.counts, self.missing, self.failed = collections.defaultdict(collections.Counter), collections.defaultdict(set), 0
        self.report = open(options.report, "w", buffering=1) if options.report else None  # noqa: SIM115

    def add(self, job):
        if not self.folder:
            self.folder = tempfile.TemporaryDirectory()
        folder = os.path.join(self.folder.name, str(len(self.waiting) + 1))
        try:
            with refused("torch.export.save refuses it"):
                self.bytes += job.write(folder)
        except Skipped as reason:
            shutil.rmtree(folder)
            return self.skip(job.case, str(reason))
        self.waiting.append(job)
        if len(self.waiting) >= BATCH or self.bytes > BATCH_BYTES:
            self.flush()

    def flush(self):
        if not self.waiting:
            return
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exported.lua")
        done = subprocess.run([self.ltensor, "--disable-cuda", script, self.folder.name], capture_output=True, text=True)
        again = []
        for i, job in enumerate(self.waiting, 1):
            job.check(os.path.join(self.folder.name, str(i)))
            if job.problem == "ltensor ended without a result" and done.stderr:
                job.problem += ": " + done.stderr.splitlines()[0]
            if job.problem and job.is_rounding and job.draw + 1 < DRAWS:
                again.append(job)
            else:
                self.count(job)
        self.folder.cleanup()
        self.waiting, self.bytes, self.folder = [], 0, None
        for job in again:
            jobs = []
            try:
                add_jobs(job.case, self.limits, [job.form], jobs, job.draw + 1)
            except Skipped:
                self.count(job)
            for other in jobs:
                self.add(other)

    def count(self, job):
        counts, name = self.counts[job.case.group], f"{job.case.name}{'' if job.form == 'exported' else ', ' + job.form}"
        counts["tried"] += 1
        counts["loaded"] += job.loaded
        counts["equal"] += job.problem is None
        if not job.problem and job.draw:
            job.rounded = f"{job.rounded or 'equal'}, of draw {job.draw + 1}"
        counts["rounded"] += job.rounded is not None
        if job.problem:
            self.failed += 1
            for operator in re.findall(r"['(]((?:torch|_operator|math|builtins)\.[\w.]+)[')]", job.problem) if not job.loaded else []:
                self.missing[operator].add(name)
            if self.verbose or job.case.group != "operators":
                print(f"{job.case.group}: {name}: {shortened(job.problem)}", flush=True)
        self.note(job.case, name, "fails" if job.problem else "rounded" if job.rounded else "equal", job.problem or job.rounded or "")

    def note(self, case, name, state, text):
        if self.report:
            self.report.write("\t".join((case.group, name, state, shortened(text))) + "\n")

    def skip(self, case, reason):
        self.counts[case.group]["skipped"] += 1
        self.note(case, case.name, "skipped", reason)
        if self.verbose or case.group != "operators":
            print(f"{case.group}: {case.name}: skipped: {reason}", flush=True)


def shortened(text):
    return re.sub(r"/tmp/\S*/", "", " ".join(text.split("stack traceback:")[0].split()))[:400]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ltensor")
    parser.add_argument("--sets", default="own")
    parser.add_argument("--match", default="")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--parameters", type=float, default=1.5e8)
    parser.add_argument("--forms", default="exported,decomposed", type=lambda text: text.split(","))
    parser.add_argument("--report")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    networks.Skipped = Skipped
    runs = Runs(options)
    for group in options.sets.split(","):
        started = time.time()
        try:
            cases = list(networks.sets[group]())
        except ImportError as error:
            print(f"{group}: skipped, {error}")
            continue
        for case in cases:
            case.group = group
            if not re.search(options.match, case.name):
                continue
            jobs = []
            try:
                add_jobs(case, options, options.forms, jobs)
            except Skipped as reason:
                runs.skip(case, shortened(str(reason)))
            for job in jobs:
                runs.add(job)
        while runs.waiting:
            runs.flush()
        runs.counts[group]["seconds"] = round(time.time() - started)
    print(f"{'set':14}{'programs':>9}{'loaded':>8}{'equal':>7}{'rounded':>9}{'skipped':>9}{'seconds':>9}")
    for group, counts in runs.counts.items():
        print(f"{group:14}{counts['tried']:9}{counts['loaded']:8}{counts['equal']:7}{counts['rounded']:9}{counts['skipped']:9}{counts['seconds']:9}")
    if runs.missing:
        print("operators that ltensor does not have, and the programs that need them:")
    for operator, names in sorted(runs.missing.items(), key=lambda entry: -len(entry[1])):
        print(f"{len(names):6}  {operator}  ({', '.join(sorted(names)[:3])})")
    return 1 if runs.failed else 0


if __name__ == "__main__":
    sys.exit(main())
