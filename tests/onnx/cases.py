#!/usr/bin/env python3
"""cases.py - writes the backend tests of the installed onnx package as folders, for backend.lua to run.

    python3 tests/onnx/cases.py FOLDER

FOLDER gets one folder per case, KIND/NAME, of model.onnx, tolerance (rtol, atol) and test_data_set_0/{input,output}_0.pb;
and `operators`, the operators that each case uses, one case a line. The cases that the package makes by Python code (node,
simple) are written by its own tool's rules; those that lie in it as files (pytorch-converted, pytorch-operator, and light,
whose weights the models make themselves and whose inputs are zeros to be made) are copied.
"""
import os
import shutil
import sys
import warnings

import numpy
import onnx
import onnx.backend.test
import onnx.backend.test.case.model as model_cases
import onnx.backend.test.case.node as node_cases
from onnx import TensorProto, numpy_helper

warnings.filterwarnings("ignore")  # of NumPy, about the infinities that the cases are made of


def operators(graph):
    found = set()
    for node in graph.node:
        found.add(f"{node.domain}:{node.op_type}" if node.domain else node.op_type)
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                found |= operators(attribute.g)
    return found


def as_message(value, info):
    """The value of a graph's input or output as the message that a .pb file holds."""
    if isinstance(value, TensorProto):
        return value
    if info.type.HasField("map_type"):
        return numpy_helper.from_dict(value, info.name)
    if info.type.HasField("sequence_type"):
        return numpy_helper.from_list(value, info.name)
    if info.type.HasField("optional_type"):
        return numpy_helper.from_optional(value, info.name)
    return numpy_helper.from_array(numpy.asarray(value), info.name)


def write(folder, name, message):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(message.SerializeToString())


def write_case(case, folder):
    write(folder, "model.onnx", case.model)
    for i, (inputs, outputs) in enumerate(case.data_sets):
        where = os.path.join(folder, f"test_data_set_{i}")
        for kind, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
            for j, value in enumerate(values):
                write(where, f"{kind}_{j}.pb", as_message(value, infos[j]))


def main():
    target = sys.argv[1]
    listed = []

    def note(kind, name, model, rtol, atol):
        with open(os.path.join(target, kind, name, "tolerance"), "w", encoding="ascii") as file:
            file.write(f"{rtol} {atol}\n")
        used = operators(model.graph)
        for function in model.functions:
            used |= operators(function)
        listed.append(f"{kind}/{name} {' '.join(sorted(used))}\n")

    for case in node_cases.collect_testcases(None) + model_cases.collect_testcases():
        if case.model is None:
            continue
        write_case(case, os.path.join(target, case.kind, case.name))
        note(case.kind, case.name, case.model, case.rtol, case.atol)
    data = os.path.join(os.path.dirname(onnx.backend.test.__file__), "data")
    for kind in ("pytorch-converted", "pytorch-operator"):
        for name in sorted(os.listdir(os.path.join(data, kind))):
            path = os.path.join(data, kind, name)
            if not os.path.exists(os.path.join(path, "model.onnx")):
                continue
            shutil.copytree(path, os.path.join(target, kind, name), dirs_exist_ok=True)
            note(kind, name, onnx.load(os.path.join(path, "model.onnx")), 1e-3, 1e-7)
    for case in model_cases.collect_testcases():
        if case.model is None:  # a known network, of weights that it makes itself: its input is a ramp
            path = os.path.join(data, "light", os.path.basename(case.url))
            model, folder = onnx.load(path), os.path.join(target, "light", case.name)
            write(folder, "model.onnx", model)
            made = {tensor.name for tensor in model.graph.initializer}
            sizes = [d.dim_value for value in model.graph.input if value.name not in made for d in value.type.tensor_type.shape.dim]
            ramp = (numpy.arange(numpy.prod(sizes)).reshape(sizes) / numpy.prod(sizes)).astype(numpy.float32)
            write(os.path.join(folder, "test_data_set_0"), "input_0.pb", numpy_helper.from_array(ramp))
            shutil.copy(path.replace(".onnx", "_output_0.pb"), os.path.join(folder, "test_data_set_0", "output_0.pb"))
            note("light", case.name, model, case.rtol, case.atol)
    with open(os.path.join(target, "operators"), "w", encoding="ascii") as file:
        file.writelines(sorted(listed))
    print(f"{len(listed)} cases in {target}")


main()
