"""bfloat16 for convolutions and activations, float32 for all else."""

from collections import Counter
from types import SimpleNamespace
from typing import ClassVar

import jax
import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.basic import Apply
from pytensor.graph.facts import precision
from pytensor.graph.op import Op
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.link.jax import jax_mode
from pytensor.link.jax.dispatch.basic import jax_funcify
from pytensor.link.jax.fixes import corrected_funcify
from pytensor.link.jax.mode.conversion import GraphWithConverter
from pytensor.link.jax.mode.precision import RULES, in_mixed_precision
from pytensor.link.jax.rewriting.channels_last import ChannelsLast
from pytensor.tensor.precision import full_precision
from pytensor.tensor.special import log_softmax, softmax
from tests.link.jax.programs import equations
from tests.utils import REFERENCE_MODE

pytestmark = pytest.mark.usefixtures("float32_everywhere")

LOW, SINGLE = "bfloat16", "float32"
IMAGE = (4, 3, 10, 8)


def shared(name, *shape, value=None):
    rng = np.random.default_rng(sum(name.encode()))
    if value is None:
        value = rng.normal(size=shape) / np.sqrt(np.prod(shape[1:]))
    return pytensor.shared(np.full(shape, value, dtype="float32"), name=name, shape=shape)


def images(shape=IMAGE, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def image_variable(name="x", shape=IMAGE, dtype="float32"):
    return pt.tensor(name, dtype=dtype, shape=shape)


def correlate(x, weight, **options):
    return pt.conv2d(
        x, weight, border_mode=weight.type.shape[-1] // 2, filter_flip=False, **options
    )


def kind(op):
    op = op.op if isinstance(op, ChannelsLast) else op
    scalar = getattr(op, "scalar_op", None)
    return type(scalar if scalar is not None else op).__name__


def spied(inputs, outputs, updates=(), values=()):
    """Return dtypes that each kind of Op was given and returned, and the whole program.

    Returns
    -------
    seen : dict of str to set of (dtypes of arrays given, dtypes returned)
    program : jaxpr
    """
    mode = jax_mode(precision="bf16")
    function = pytensor.function(inputs, outputs, updates=list(updates), mode=mode)
    fgraph = function.maker.fgraph
    seen = {}

    def names(values):
        return tuple(v.dtype.name for v in values if hasattr(v, "dtype"))

    def convert(op, *, node, within, **kwargs):
        compute = mixed(op, node=node, within=within, **kwargs)

        def spying(*given):
            results = compute(*given)
            returned = results if isinstance(results, tuple | list) else (results,)
            seen.setdefault(kind(op), set()).add((names(given), names(returned)))
            return results

        return spying

    mixed = in_mixed_precision(corrected_funcify)
    program = jax.make_jaxpr(jax_funcify(GraphWithConverter(fgraph, convert)))(
        *values, *(v.get_value() for v in fgraph.inputs[len(values) :])
    )
    return seen, program


def products(program):
    """Count the convolutions and matrix products with operands of these dtypes."""
    return Counter(
        tuple(v.aval.dtype.name for v in equation.invars)
        for equation in equations(program.jaxpr)
        if equation.primitive.name in ("conv_general_dilated", "dot_general")
    )


def small_network(x, classes=4):
    """Build a network with what image networks are made of; return logits and parameters."""
    stem, gamma, beta = shared("stem", 8, 3, 3, 3), shared("gamma", 8, value=1), shared("beta", 8)
    branch, depthwise = shared("branch", 8, 4, 3, 3), shared("depthwise", 8, 1, 3, 3)
    bias, head = shared("bias", 8), shared("head", 40 * 8 // 4, classes)
    h, *_ = pt.batch_normalization_train(correlate(x, stem), gamma, beta, axes="spatial")
    h = pt.silu(h)
    first, second = pt.split(h, [4, 4], n_splits=2, axis=1)
    h = h + pt.silu(correlate(second, branch) + bias[None, :, None, None])
    h = pt.concatenate([first, correlate(h, depthwise, num_groups=8)[:, 4:]], axis=1)
    h = pt.resize(pt.nn.max_pool2d(h, 2), scale=2, mode="nearest")
    h = pt.nn.avg_pool2d(h, 2)[:, 2:6].flatten(2)
    return h @ head, [stem, gamma, beta, branch, depthwise, bias, head]


def cross_entropy(logits, targets):
    terms = -(log_softmax(full_precision(logits), axis=1) * targets).sum(axis=1, acc_dtype=SINGLE)
    return terms.mean(acc_dtype=SINGLE)


@pytest.fixture(scope="module")
def network():
    """Return the small network's gradients in either precision, and the program of the low one."""
    with pytensor.config.change_flags(floatX="float32"), jax.enable_x64(False):
        x, y = image_variable(), pt.tensor("y", dtype="float32", shape=(4, 4))
        logits, params = small_network(x)
        loss = cross_entropy(logits, y)
        outputs = [loss, *pytensor.grad(loss, params)]
        values = [images(), np.eye(4, dtype="float32")]
        results = {
            precision: pytensor.function([x, y], outputs, mode=jax_mode(precision=precision))(
                *values
            )
            for precision in ("float32", "bf16")
        }
        seen, program = spied([x, y], outputs, values=values)
        return SimpleNamespace(
            names=[p.name for p in params], **results, seen=seen, program=program
        )


class Probe(Op):
    """The identity; tells which dtype JAX has for its input."""

    __props__ = ("number",)
    seen: ClassVar[dict] = {}

    def __init__(self, number):
        self.number = number

    def make_node(self, x):
        return Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        output_storage[0][0] = inputs[0]


@jax_funcify.register(Probe)
def jax_funcify_Probe(op, **kwargs):
    def probe(x):
        Probe.seen[op.number] = x.dtype.name
        return x

    return probe


precision.register(Probe, lambda op: "probe")


def see_everything(patch):
    patch.setitem(RULES, "probe", lambda function, node, facts: function)


@pytest.fixture(autouse=True)
def probes_see_everything(monkeypatch):
    see_everything(monkeypatch)


def dtypes_inside(inputs, variables):
    """Return the dtypes that JAX has for variables which don't leave the graph."""
    outputs = [Probe(k)(variable).sum() for k, variable in enumerate(variables)]
    fgraph = pytensor.function(inputs, outputs, mode=jax_mode(precision="bf16")).maker.fgraph
    convert = in_mixed_precision(corrected_funcify)
    Probe.seen.clear()
    values = [np.zeros(v.type.shape, v.type.dtype) for v in fgraph.inputs]
    jax.make_jaxpr(jax_funcify(GraphWithConverter(fgraph, convert)))(*values)
    return [Probe.seen[k] for k in range(len(variables))]


# ------------------------------------------------------------------------------ the rules


@pytest.mark.slow
def test_gradients_are_close(network):
    np.testing.assert_allclose(network.bf16[0], network.float32[0], rtol=0.02)
    for name, got, expected in zip(
        network.names, network.bf16[1:], network.float32[1:], strict=True
    ):
        got, expected = np.asarray(got), np.asarray(expected)
        assert got.dtype == expected.dtype == SINGLE
        norms = np.linalg.norm(got) * np.linalg.norm(expected)
        assert (got * expected).sum() > 0.99 * norms, name
        np.testing.assert_allclose(
            np.linalg.norm(got), np.linalg.norm(expected), rtol=0.05, err_msg=name
        )
        assert not np.array_equal(got, expected), name


def test_products_have_operands_of_bfloat16(network):
    assert products(network.program) == {(LOW, LOW): sum(products(network.program).values())}
    assert sum(products(network.program).values()) > 8


def test_convolutions(network):
    for name in ("Conv", "ConvGradInput"):
        assert {returned for _, returned in network.seen[name]} == {(LOW,)}
    assert {returned for _, returned in network.seen["ConvGradFilters"]} == {(SINGLE,)}


def test_normalization_keeps_its_statistics(network):
    ((_, returned),) = network.seen["BatchNormalizationTrain"]
    assert returned == (LOW, SINGLE, SINGLE)
    ((_, returned),) = network.seen["BatchNormalizationTrainGrad"]
    assert returned == (LOW, SINGLE, SINGLE)


@pytest.mark.parametrize("name", ["SiLU", "Pool", "Resize", "ResizeGrad", "SymbolicPullback"])
def test_activations_stay_in_bfloat16(network, name):
    for given, returned in network.seen[name]:
        assert set(given) == {LOW}
        assert returned == (LOW,)


def test_views_stay_in_bfloat16(network):
    for name in ("Join", "Split"):
        assert network.seen[name]
        for given, returned in network.seen[name]:
            assert LOW in given
            assert set(returned) == {LOW}


def test_loss_is_in_float32(network):
    ((given, returned),) = network.seen["FullPrecision"]
    assert (given, returned) == ((LOW,), (SINGLE,))
    for given, returned in network.seen["LogSoftmax"]:
        assert given == returned == (SINGLE,)


FUNCTIONS = [
    (lambda x: x + x, LOW),
    (lambda x: pt.tanh(x), LOW),
    (lambda x: pt.nn.gelu(x), LOW),
    (lambda x: x * np.float32(0.5), LOW),
    (lambda x: x + shared("bias", 1, 6, 1, 1), LOW),
    (lambda x: x + np.arange(6, dtype="float32")[None, :, None, None], LOW),
    (lambda x: pt.switch(x > 0, x, np.float32(0)), LOW),
    (lambda x: x.reshape((4, -1)), LOW),
    (lambda x: pt.set_subtensor(x[:, 0], np.float32(0)), LOW),
    (lambda x: pt.zeros_like(x)[:, :2].inc(x[:, :2]), LOW),
    (lambda x: pt.pad(x, 1), LOW),
    (lambda x: pt.repeat(x, 2, axis=1), LOW),
    (lambda x: pt.nn.layer_norm(x, x.type.shape[-1:]), LOW),
    (lambda x: pt.nn.adaptive_avg_pool2d(x, (2, 2)), LOW),
    (lambda x: x + shared("other", 4, 6, 10, 8), SINGLE),
    (lambda x: x - x.max(axis=1, keepdims=True), SINGLE),
    (lambda x: pt.exp(x), SINGLE),
    (lambda x: x**3, SINGLE),
    (lambda x: pt.softplus(x), SINGLE),
    (lambda x: softmax(x, axis=1), SINGLE),
    (lambda x: x.mean(axis=1, keepdims=True), SINGLE),
    (lambda x: full_precision(x), SINGLE),
    (lambda x: pt.concatenate([x, shared("more", 4, 1, 10, 8)], axis=1), LOW),
    (lambda x: pt.concatenate([x, image_variable()], axis=1), SINGLE),
    (lambda x: (x > 0).astype("float32"), SINGLE),
]


@pytest.fixture(scope="module")
def dtypes_of_functions():
    """Return the dtypes of the results of all `FUNCTIONS`, from one program."""
    with (
        pytensor.config.change_flags(floatX="float32"),
        jax.enable_x64(False),
        pytest.MonkeyPatch.context() as patch,
    ):
        see_everything(patch)
        layers = [correlate(image_variable(), shared("weight", 6, 3, 3, 3)) for _ in FUNCTIONS]
        results = [function(h) for (function, _), h in zip(FUNCTIONS, layers, strict=True)]
        return dtypes_inside(list(explicit_graph_inputs(results)), results)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_dtype_of_a_function(number, dtypes_of_functions):
    assert dtypes_of_functions[number] == FUNCTIONS[number][1]


@pytest.mark.slow
def test_products_of_layers():
    x, weight = pt.tensor("x", dtype="float32", shape=(5, 4)), shared("weight", 4, 4)
    hidden = x @ weight
    in_bfloat16 = [
        hidden, weight.T @ x.T, hidden @ hidden.T, softmax(hidden @ hidden.T, axis=1) @ hidden
    ]  # fmt: skip
    in_float32 = [x @ x.T, x @ np.eye(4, dtype="float32")]
    assert dtypes_inside([x], [*in_bfloat16, *in_float32]) == [LOW] * 4 + [SINGLE] * 2


@pytest.mark.slow
def test_products_of_batches():
    x = pt.tensor("x", dtype="float32", shape=(2, 5, 4))
    hidden = x @ shared("weight", 4, 4)
    in_bfloat16 = [
        hidden, pt.matmul(hidden, hidden.mT), pt.einsum("bij,bkj->bik", hidden, hidden)
    ]  # fmt: skip
    assert dtypes_inside([x], [*in_bfloat16, pt.matmul(x, x.mT)]) == [LOW] * 3 + [SINGLE]


# ------------------------------------------------------------------------------ rounding


def roundings(inputs, outputs, values):
    """Count how often a program rounds images to bfloat16, but for convolutions' operands."""
    _, program = spied(inputs, outputs, values=values)
    return sum(
        equation.primitive.name == "convert_element_type"
        and equation.outvars[0].aval.dtype.name == LOW
        and equation.invars[0].aval.dtype.name == SINGLE
        and equation.invars[0].aval.shape in ((4, 6, 10, 8), (4, 10, 8, 6))
        for equation in equations(program.jaxpr)
    )


def read_by_pooling_too(h):
    negative = -h
    return pt.silu(negative) + pt.nn.max_pool2d(negative, 3, stride=1, padding=1)


def with_two_results(h):
    negative, other = -h, shared("other filters", 6, 6, 3, 3)
    return correlate(pt.silu(negative), other) + correlate(pt.tanh(negative), other)


@pytest.mark.by_default("<lambda>-1_0", "<lambda>-1_1", "with_two_results-4")
@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda h: pt.silu(pt.tanh(h) * np.float32(2)), 1),
        (lambda h: pt.sigmoid(h) * (h + pt.tanh(h)), 1),
        (read_by_pooling_too, 2),
        # two activations, what both read, and their convolutions' sum
        (with_two_results, 4),
    ],
)
def test_chains_of_elementwise_functions_are_rounded_once(function, expected):
    """The last result alone."""
    x = image_variable()
    y = function(correlate(x, shared("weight", 6, 3, 3, 3)))
    assert roundings([x], [pt.nn.max_pool2d(y, 2)], [images()]) == expected


def test_depthwise_sums_are_rounded_once():
    """On a CPU they are written as sums of products, forward and backward."""
    x = image_variable(shape=(4, 6, 32, 32))
    weight = shared("weight", 6, 1, 3, 3)
    h = correlate(x, weight, num_groups=6)
    gradient = pytensor.grad((h * h).sum(acc_dtype=SINGLE), weight)
    _, program = spied([x], [gradient], values=[images((4, 6, 32, 32))])
    sums = [
        e.outvars[0].aval.dtype.name
        for e in equations(program.jaxpr)
        if e.primitive.name in ("reduce_sum", "add", "add_any") and e.outvars[0].aval.ndim > 0
    ]
    assert len(sums) > 9
    assert set(sums) == {SINGLE}


# ------------------------------------------------------------------------------ the mark


@pytest.mark.by_default("mode0", "FAST_COMPILE", "CVM", "JAX", "mode5")
@pytest.mark.parametrize(
    "mode", [REFERENCE_MODE, "FAST_COMPILE", "CVM", "NUMBA", "JAX", jax_mode(precision="bf16")]
)
def test_mark_is_the_identity(mode):
    x = pt.matrix("x", dtype="float32")
    y = full_precision(x)
    gradient = pytensor.grad((y * y).sum(acc_dtype=SINGLE), x)
    value = images((2, 3))
    out, got = pytensor.function([x], [y, gradient], mode=mode)(value)
    np.testing.assert_array_equal(out, value)
    np.testing.assert_array_equal(got, 2 * value)


def test_mark_is_of_floats():
    with pytest.raises(TypeError, match="must be floating point, got int64"):
        full_precision(pt.vector("x", dtype="int64"))


def test_mark_is_not_exported():
    onnx = pytest.importorskip("pytensor.link.onnx")
    x = pt.matrix("x", dtype="float32")
    model = onnx.export_onnx([x], pt.exp(full_precision(x)))
    assert [node.op_type for node in model.graph.node] == ["Exp"]


# ------------------------------------------------------------------------------ training


def train(precision, steps=60):
    """Tell apart images with a bright left or right half, and noise; the accuracy on others."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 256)
    data = rng.normal(size=(256, *IMAGE[1:])).astype("float32")
    data[labels == 0, :, :, :4] += 0.6
    data[labels == 1, :, :, 4:] += 0.6
    targets = np.eye(3, dtype="float32")[labels]
    x = image_variable(shape=(32, *IMAGE[1:]))
    y = pt.tensor("y", dtype="float32", shape=(32, 3))
    logits, params = small_network(x, classes=3)
    loss = cross_entropy(logits, y)
    updates = [
        (p, p - np.float32(0.1) * g)
        for p, g in zip(params, pytensor.grad(loss, params), strict=True)
    ]
    mode = jax_mode(precision=precision)
    step = pytensor.function([x, y], loss, updates=updates, mode=mode)
    predict = pytensor.function([x], logits, mode=mode)
    for k in range(steps):
        rows = np.arange(32 * k, 32 * k + 32) % 192
        step(data[rows], targets[rows])
    rows = np.arange(192, 256).reshape(2, 32)
    return np.mean([np.argmax(predict(data[r]), axis=1) == labels[r] for r in rows])


@pytest.mark.long
def test_training_reaches_the_same_accuracy():
    accuracies = [train(precision) for precision in ("float32", "bf16")]
    assert accuracies[0] > 0.8
    assert abs(accuracies[0] - accuracies[1]) < 0.05
