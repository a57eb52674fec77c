import pickle

import numpy as np
import onnxruntime
import pytest
import scipy.special

import pytensor.tensor as pt
from pytensor import config, function, scan, shared
from pytensor.compile.mode import Mode, get_mode
from pytensor.link.onnx import (
    ONNXLinker,
    UnsupportedOpError,
)
from pytensor.optimizers import SGD
from pytensor.raise_op import Assert, CheckAndRaise
from pytensor.tensor.blas import BatchedDot
from pytensor.tensor.nn import avg_pool1d, lp_pool1d, max_pool1d
from pytensor.tensor.type_other import slicetype
from tests.link.onnx.test_basic import run_python
from tests.utils import REFERENCE_MODE


def test_outputs_are_those_of_other_modes():
    x = pt.tensor("x", shape=(None, 3), dtype="float32")
    n = pt.iscalar("n")
    outputs = [pt.exp(x).sum(axis=0), x[:n], x, x, n, pt.constant(2.5), (x > 1).any()]
    values = np.arange(6, dtype="float32").reshape(2, 3), np.int32(1)
    expected = function([x, n], outputs, mode=REFERENCE_MODE)(*values)
    results = function([x, n], outputs, mode="ONNX")(*values)
    for result, wanted in zip(results, expected, strict=True):
        assert isinstance(result, np.ndarray)
        assert result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=1e-6, strict=True)


def test_an_output_is_not_the_input_array():
    x = pt.vector("x")
    value = np.arange(3.0)
    result = function([x], x, mode="ONNX")(value)
    result[0] = 7
    assert value[0] == 0


@pytest.mark.parametrize("outputs", [[], None, [pt.arange(3)]])
def test_no_inputs(outputs):
    count = shared(np.int64(1), name="count")
    f = function([], outputs, updates={count: count * 2}, mode="ONNX")
    f()
    results = f()
    assert count.get_value() == 4
    if outputs:
        np.testing.assert_array_equal(results[0], [0, 1, 2])


def test_no_outputs_at_all():
    assert function([], [], mode="ONNX")() == []


def test_training_step_matches_python():
    rng = np.random.default_rng(0)
    x, y = pt.matrix("x"), pt.vector("y")

    def step(mode):
        weights = shared(np.zeros(3), name="weights")
        offset = shared(0.5, name="offset")
        loss = pt.sqr(x @ weights + offset - y).mean()
        parameters = [weights, offset]
        gradients = pt.grad(loss, parameters)
        updates = SGD(0.1, momentum=0.9).get_updates(parameters, gradients)
        return weights, function([x, y], loss, updates=updates, mode=mode)

    data = rng.normal(size=(10, 3)), rng.normal(size=10)
    expected_weights, expected = step(REFERENCE_MODE)
    weights, actual = step("ONNX")
    losses = [(actual(*data), expected(*data)) for _ in range(20)]
    np.testing.assert_allclose(*np.transpose(losses), rtol=1e-10)
    np.testing.assert_allclose(weights.get_value(), expected_weights.get_value(), rtol=1e-10)
    assert losses[-1][0] < losses[0][0]


def test_inputs_that_are_not_contiguous():
    x = pt.matrix("x")
    value = np.arange(12.0).reshape(3, 4)[::-1, ::2]
    np.testing.assert_array_equal(function([x], x + 0.5, mode="ONNX")(value), value + 0.5)


def test_two_inputs_of_one_name():
    x, also_x = pt.vector("x"), pt.vector("x")
    f = function([x, also_x], x - also_x, mode="ONNX")
    np.testing.assert_array_equal(f([3], [1]), [2])


def test_options():
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    providers = [("CPUExecutionProvider", {})]
    linker = ONNXLinker(session_options=options, providers=providers, opset_version=24)
    x = pt.vector("x")
    mode = Mode(linker)
    # A linker serves one graph; others get copies, which must keep the options.
    for _ in range(2):
        f = function([x], x + 1, mode=mode)
        np.testing.assert_array_equal(f([1]), [2])
        made_by = f.maker.linker
        assert made_by.session_options is options
        assert made_by.opset_version == 24
        assert made_by.providers == providers
    with pytest.raises(ValueError, match="NoSuchProvider"):
        function([x], x + 1, mode=Mode(ONNXLinker(providers=["NoSuchProvider"])))
    function([x], x, mode=Mode(ONNXLinker(providers="CPUExecutionProvider")))
    with pytest.raises(ValueError, match="opset_version must be one of"):
        ONNXLinker(opset_version=17)


def test_unsupported_ops_are_named():
    x = pt.matrix("x")
    eigenvalues = pt.linalg.eig(x)[0]
    with pytest.raises(UnsupportedOpError, match="Eig"):
        function([x], eigenvalues, mode="ONNX")
    part = slicetype("part")
    with pytest.raises(TypeError, match="'part' has type slice"):
        function([part], part, mode="ONNX")


def test_functions_and_modes_can_be_pickled_and_copied():
    x = pt.vector("x")
    count = shared(1.0, name="count")
    f = function([x], x * count, updates={count: count + 1}, mode="ONNX")
    again = pickle.loads(pickle.dumps(f))
    f([1.0])
    np.testing.assert_array_equal(again([3.0]), [3.0])
    np.testing.assert_array_equal(f.copy(share_memory=False)([3.0]), [6.0])
    assert isinstance(pickle.loads(pickle.dumps(get_mode("ONNX"))).linker, ONNXLinker)


def test_mode_by_configuration():
    x = pt.vector("x")
    with config.change_flags(mode="ONNX"):
        f = function([x], x + 1)
        assert isinstance(f.maker.linker, ONNXLinker)
        np.testing.assert_array_equal((x + 1).eval({x: [1]}), [2])
    with pytest.raises(ValueError, match="Expected one of"), config.change_flags(mode="ONYX"):
        pass
    with config.change_flags(mode="FAST_RUN", linker="onnx"):
        assert isinstance(function([x], x + 1).maker.linker, ONNXLinker)
    assert isinstance(Mode("onnx").linker, ONNXLinker)


@pytest.mark.slow
def test_mode_by_environment():
    code = (
        "import pytensor, pytensor.tensor as pt; x = pt.dscalar();"
        "print(type(pytensor.function([x], x + 1).maker.linker).__name__)"
    )
    assert run_python(code, PYTENSOR_FLAGS="mode=ONNX") == "ONNXLinker"


@pytest.mark.slow
def test_importing_pytensor_loads_neither_onnx_nor_its_dispatch():
    code = (
        "import sys, pytensor, pytensor.tensor; from pytensor.compile.mode import get_mode;"
        "get_mode('ONNX');"
        "print(sorted(m for m in sys.modules if m.startswith(('onnx', 'pytensor.link.onnx.'))))"
    )
    loaded = [f"pytensor.link.onnx.{name}" for name in ("errors", "linker", "settings")]
    assert run_python(code) == str(loaded)


@pytest.mark.slow
def test_missing_package_is_named():
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "import pytensor, pytensor.tensor as pt; x = pt.dscalar()\n"
        "try: pytensor.function([x], x + 1, mode='ONNX')\n"
        "except ModuleNotFoundError as error: print(error)"
    )
    assert "pip install onnx onnxruntime" in run_python(code)


def test_checks_raise():
    x = pt.vector("x")
    checked = Assert("numbers must be positive")(x, (x > 0).all())
    divided = CheckAndRaise(ZeroDivisionError, "division by zero")(1 / checked, pt.neq(x, 1).all())
    f = function([x], divided.sum(), mode="ONNX")
    assert f([2, 4]) == 0.75
    with pytest.raises(AssertionError, match="numbers must be positive"):
        f([2, -4])
    with pytest.raises(ZeroDivisionError, match="division by zero"):
        f([2, 1])


def failing():
    x, y, n = pt.dtensor3("x"), pt.dtensor3("y"), pt.lscalar("n")
    v, w, i = pt.dvector("v"), pt.dvector("w"), pt.lvector("i")
    b, c = pt.vector("b", dtype="bool"), pt.matrix("c", dtype="bool")
    batches = np.ones((2, 3, 4)), np.ones((3, 4, 5))
    one, two, six = np.ones(1), np.ones(2), np.arange(6.0)
    return {
        "Matmul": ([x, y], x @ y, batches),
        "BatchedDot": ([x, y], BatchedDot()(x, y), batches),
        "Add": ([v, w], v + w, (two, six)),
        "Alloc": ([v, n], pt.alloc(v, 2, n), (two, 3)),
        "Split": ([v, i], pt.split(v, i, n_splits=2), (six, [2, 3])),
        "Join": ([x, y], pt.concatenate([x, y]), batches),
        "Reshape": ([v, n], v.reshape((n, 2)), (six, 4)),
        "Subtensor": ([v, n], v[n], (six, 6)),
        "AdvancedSubtensor": ([v, i], v[i], (six, [0, -7])),
        "AdvancedIncSubtensor": ([v, i], v[i].inc(1), (six, [7])),
        "SpecifyShape": ([v], pt.specify_shape(v, 3), (two,)),
        "Solve": ([v, w], pt.linalg.solve(pt.outer(v, v), w), (two, one * six)),
        "UnravelIndex": ([i], pt.unravel_index(i, (2, 3)), ([6],)),
        "RavelMultiIndex": ([i], pt.ravel_multi_index((i, i), (2, 3)), ([2],)),
        "Searchsorted": ([v, w, i], pt.searchsorted(v, w, sorter=i), (two, six, [0])),
        "sorter": ([v, w, i], pt.searchsorted(v, w, sorter=i), (two, six, [0, -1])),
        "short mask": ([v, b], v[b], (six, [True])),
        "long mask": ([v, b], v[b], (one, [True, False])),
        "mask of a later axis": ([x, b], x[:, b], (batches[0], [False, True])),
        "mask of two axes": ([x, c], x[c], (batches[0], [[True, False, True]])),
        "masked assignment": ([v, b], v[b].set(7), (six, [True])),
        "masked increments": ([x, c, v], x[c].inc(v), (batches[0], [[True]], np.ones(4))),
        "pooling": ([x], max_pool1d(x, 5, 2), batches[:1]),
        "averages": ([x], avg_pool1d(x, 5, 2, padding=1), (batches[0][:, :, :2],)),
        "started windows": ([x], max_pool1d(x, 2, ceil_mode=True), (batches[0][:, :, :0],)),
        "norms": ([x], lp_pool1d(x, 2, 5), batches[:1]),
        "maxima and their places": ([x], max_pool1d(x, 5, return_indices=True), batches[:1]),
        "convolution": ([x, y], pt.nn.conv1d(x, y), (batches[0], np.ones((5, 3, 5)))),
        "resize": ([x], pt.resize(x, scale=(0.5,), mode="linear"), (batches[0][:, :, :1],)),
        "power": ([n, i], n**i, (2, [3, -1])),
        "constant power": ([i], i ** pt.constant([2, -1]), ([1, 2],)),
    }


FAILING = failing()
# These raise an error of their own, which is PyTensor's word for word or nearly.
UNNAMED = {
    "SpecifyShape": "SpecifyShape",
    "UnravelIndex": "out of bounds",
    "RavelMultiIndex": "out of bounds",
    "Searchsorted": "sorter.size must equal a.size",
    "sorter": "Sorter index out of range",
    "short mask": "boolean index did not match",
    "long mask": "boolean index did not match",
    "mask of a later axis": "boolean index did not match",
    "mask of two axes": "boolean index did not match",
    "masked assignment": "boolean index did not match",
    "masked increments": "boolean index did not match",
    **dict.fromkeys(
        ["pooling", "averages", "started windows", "norms", "maxima and their places"],
        "larger than the padded image",
    ),
    "convolution": "larger than the padded image",
    "resize": "leaves no cell",
    "power": "negative integer powers",
    "constant power": "negative integer powers",
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_are_of_pytensors_kind_and_name_the_node(name):
    inputs, outputs, values = FAILING[name]
    values = [np.asarray(v, dtype=i.type.dtype) for i, v in zip(inputs, values, strict=True)]
    with pytest.raises((ValueError, IndexError, AssertionError, TypeError)) as expected:
        function(inputs, outputs, mode=REFERENCE_MODE)(*values)
    kind = ValueError if name == "BatchedDot" else expected.type
    what = UNNAMED.get(name, rf"^{name}\b.* of \(.*failed in onnxruntime")
    with pytest.raises(kind, match=what):
        function(inputs, outputs, mode="ONNX")(*values)


def test_error_of_an_inner_loop_names_the_outermost_node():
    x, v = pt.dmatrix("x"), pt.dvector("v")
    outputs = scan(lambda a, b: a + b, sequences=[x], outputs_info=[v], return_updates=False)
    f = function([x, v], outputs, mode="ONNX")
    with pytest.raises(ValueError, match=r"Loop of .* failed in onnxruntime \(Add 'loop_0/add'\)"):
        f(np.ones((3, 4)), np.ones(3))


def test_bernoulli_density_far_from_the_mode():
    """PyTensor's rewrites keep it finite; the graph as built has the logarithm of 0."""
    t = pt.dvector("t")
    p = pt.sigmoid(t)
    success, failure = pt.log(p), pt.log1p(-p)
    outputs = [success, failure, pt.grad(success.sum(), t), pt.grad(failure.sum(), t)]
    values = np.array([-2000.0, -750.0, -40.0, 0.0, 40.0, 750.0, 2000.0])
    results = function([t], outputs, mode="ONNX")(values)
    logs = [-np.logaddexp(0, sign * values) for sign in (-1, 1)]
    slopes = [-sign * scipy.special.expit(sign * values) for sign in (-1, 1)]
    expected = [*logs, *slopes]
    for actual, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(actual, wanted, rtol=1e-13, atol=1e-16)
