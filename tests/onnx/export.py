"""Gives the models that export.lua wrote to onnx's checker and shape inference, and to onnxruntime, and compares outputs.

    python3 tests/onnx/export.py FOLDER

Prints what differs; the exit code is 1 then. Needs numpy, onnx and onnxruntime.
"""
import glob
import os
import sys

import numpy
import onnx
import onnxruntime


def check(path):
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    base = path[: -len(".onnx")]
    inputs = {entry.name: numpy.load(f"{base}.input_{i + 1}.npy") for i, entry in enumerate(session.get_inputs())}
    results = session.run(None, inputs)
    for i, got in enumerate(results):
        wanted = numpy.load(f"{base}.output_{i + 1}.npy")
        name = session.get_outputs()[i].name
        if got.dtype != wanted.dtype or got.shape != wanted.shape:
            raise AssertionError(f"{name}: {got.dtype} {got.shape}, not {wanted.dtype} {wanted.shape}")
        if not numpy.allclose(got, wanted, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise AssertionError(f"{name}: differs by up to {numpy.abs(got.astype(float) - wanted.astype(float)).max():g}")


def main():
    paths = sorted(glob.glob(os.path.join(sys.argv[1], "*.onnx")))
    failed = 0
    for path in paths:
        try:
            check(path)
        except Exception as error:  # whatever the checker or the runtime finds
            failed += 1
            print(f"{os.path.basename(path)}: {type(error).__name__}: {error}")
    print(f"{len(paths) - failed} of {len(paths)} models: checked, run by onnxruntime, equal")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
