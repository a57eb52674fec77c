import os
import subprocess
import sys
import zlib
from cProfile import Profile
from functools import lru_cache

import numpy as np
import onnx
import onnxruntime
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.onnx import (
    ConversionError,
    UnsupportedOpError,
    export_onnx,
    onnx_funcify,
)
from pytensor.scalar.basic import ScalarOp, same_out
from pytensor.tensor.basic import MakeVector
from pytensor.tensor.elemwise import Elemwise
from tests.utils import REFERENCE_MODE, TOLERANCES, compiled


def compare_onnx_and_py(
    inputs,
    outputs,
    values,
    *,
    rtol=None,
    atol=None,
    opset_version=None,
    py_mode=REFERENCE_MODE,
    **kwargs,
):
    """Check that the exported graph has the same results in onnxruntime as in Python.

    Dtypes and shapes must be equal, and those that the model declares must hold.  Unless a version
    of the operator set is given, those of `opsets_in_turn` are tried.

    Parameters
    ----------
    inputs : sequence of Variable
    outputs : Variable or sequence of Variable
    values : sequence of arrays
        One per input.
    rtol, atol : float, optional
        Instead of the dtype's tolerance.
    opset_version : int, optional
    py_mode : Mode
        How the results to compare with are computed.
    **kwargs
        For `export_onnx`.

    Returns
    -------
    onnx.ModelProto
        The model of the default operator set, or of the one given.
    """
    outputs = tuple(outputs) if isinstance(outputs, list | tuple) else (outputs,)
    values = [np.asarray(v, dtype=i.type.dtype) for v, i in zip(values, inputs, strict=True)]
    with pytensor.config.change_flags(cxx=""):
        expected = compiled(py_mode, tuple(inputs), outputs)(*values)
    for opset in opsets_in_turn() if opset_version is None else (opset_version,):
        # Dictionaries of names can't be keys of what is kept.
        make = exported.__wrapped__ if "dynamic_axes" in kwargs else exported
        model, session = make(tuple(inputs), outputs, opset_version=opset, **kwargs)
        check_results(model, run_session(session, values), expected, rtol=rtol, atol=atol)
    return model


@lru_cache(maxsize=3)
def exported(inputs, outputs, **options):
    """Return a model and its session; the last ones are kept, for calls with other values."""
    model = export_onnx(inputs, outputs, **options)
    return model, session_of(model)


def opsets_in_turn():
    """Return the operator sets to try: for every second test, by its name, the default alone.

    For the others the lowest or the highest, too.  Few converters ask which one it is, and their
    tests have several cases or try them all.  With the environment variable ``OPSETS=all``, as in
    the weekly workflow, each test tries all three.
    """
    if os.environ.get("OPSETS") == "all":
        return 18, 24, 20
    name, _, _phase = os.environ["PYTEST_CURRENT_TEST"].rpartition(" ")
    return ((18, 20), (20,), (24, 20), (20,))[zlib.crc32(name.encode()) % 4]


def check_results(model, results, expected, *, rtol=None, atol=None):
    """Compare what onnxruntime computed with what PyTensor did, and with the model's own types."""
    for info, result, wanted in zip(model.graph.output, results, expected, strict=True):
        wanted = np.asarray(wanted)
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        declared = [d.dim_value or d.dim_param for d in info.type.tensor_type.shape.dim]
        assert len(declared) == result.ndim
        for size, length in zip(declared, result.shape, strict=True):
            assert not isinstance(size, int) or size == length
        default_rtol, default_atol = TOLERANCES.get(wanted.dtype.name, (0, 0))
        np.testing.assert_allclose(
            result,
            wanted,
            rtol=default_rtol if rtol is None else rtol,
            atol=default_atol if atol is None else atol,
        )


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def run_session(session, values):
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, values, strict=True)))


def run(model, values):
    """Run a model in onnxruntime with values for its inputs in order."""
    return run_session(session_of(model), values)


def run_python(code, cwd=None, **environment):
    """Return what a program prints, of a process with PyTensor's own settings."""
    environment = os.environ | {"PYTENSOR_FLAGS": ""} | environment
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=cwd, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def op_types(model):
    return [node.op_type for node in model.graph.node]


def dims(info):
    return [d.dim_value or d.dim_param for d in info.type.tensor_type.shape.dim]


class Double(Op):
    """An Op of a user's own."""

    __props__ = ()

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 2


class Triple(Double):
    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] * 3


class Untold(Op):
    """An Op without a converter."""

    __props__ = ()
    make_node = Double.make_node
    perform = Double.perform


@onnx_funcify.register(Double)
def onnx_funcify_Double(op, node, x):
    return x + x


@onnx_funcify.register(Triple)
def onnx_funcify_Triple(op, node, x):
    raise ConversionError("three is too many")


def test_user_op():
    x = pt.vector("x", dtype="float32")
    compare_onnx_and_py([x], Double()(x), [[1, 2, 3]])


class Seven(Op):
    __props__ = ()

    def make_node(self):
        return Apply(self, [], [pt.fscalar()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = np.array(7, "float32")


@onnx_funcify.register(Seven)
def onnx_funcify_Seven(op, node, builder):
    return builder.constant(7, "float32")


def test_ops_without_inputs_get_the_builder():
    x = pt.vector("x", dtype="float32")
    compare_onnx_and_py([x], [x * Seven()(), MakeVector("int64")()], [[1, 2]])


def test_all_unsupported_nodes_are_listed():
    x = pt.vector("x", dtype="float32")
    with pytest.raises(UnsupportedOpError) as error:
        export_onnx([x], [Triple()(x), Triple()(x + 1), Untold()(x)])
    message = str(error.value)
    assert len(error.value.failures) == 3
    assert "2 x Triple: three is too many" in message
    assert "1 x Untold: no converter is registered" in message
    assert "@onnx_funcify.register(Untold)" in message


class OfPair(Op):
    """An Op that isn't called with what its nodes have for inputs."""

    __props__ = ()

    def make_node(self, pair):
        return Apply(self, list(pair), [pair[0].type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0] - inputs[1]


class OwnScalarOp(ScalarOp):
    nin = 1

    def impl(self, x):
        return 3 * x


def test_ops_of_other_forms_are_listed():
    x = pt.vector("x", dtype="float32")
    own = Elemwise(OwnScalarOp(same_out, name="own"))
    with pytest.raises(UnsupportedOpError) as error:
        export_onnx([x], [OfPair()((x, x + 1)), own(x)])
    assert "1 x OfPair: no converter is registered" in str(error.value)
    assert "1 x Own: no converter is registered" in str(error.value)


def test_op_from_graph_is_inlined():
    x, y = pt.fvectors("x", "y")
    inner = OpFromGraph([x, y], [x * y + 1, x - 2 * y])
    a, b = inner(x + y, y)
    model = compare_onnx_and_py([x, y], [a, b], [[1, 2], [3, 4]])
    assert sorted(op_types(model)) == ["Add", "Add", "Mul", "Mul", "Sub"]


def test_model_is_valid_at_every_opset():
    x = pt.tensor("x", shape=(3, 3), dtype="float32")
    for opset, ir_version in ((18, 8), (19, 9), (20, 9), (21, 10), (22, 10), (23, 11), (24, 12)):
        model = compare_onnx_and_py(
            [x], [pt.exp(x).max(axis=1), (x > 0).any()], [np.eye(3)], opset_version=opset
        )
        assert model.opset_import[0].version == opset
        assert model.ir_version == ir_version
        onnx.checker.check_model(model, full_check=True)
        # Booleans, if there are any, are reduced through integers before operator set 20.
        assert ("Cast" in op_types(model)) == (opset < 20)


def growth(work, sizes):
    """Return how many calls of functions each step from a size to the next adds.

    Calls are counted: unlike seconds, they are the same in each run.
    """
    work(sizes[0])  # what is done once
    counts = []
    for size in sizes:
        profile = Profile()
        profile.runcall(work, size)
        counts.append(sum(entry.callcount for entry in profile.getstats()))
    return np.diff(counts)
