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
from pytensor.link.jax.mode.precision import RULES
from pytensor.tensor.precision import full_precision
from pytensor.tensor.special import log_softmax, softmax
from tests.link.jax.programs import equations, traced
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


def program_of(inputs, outputs, updates=()):
    """Return the program of a function in mixed precision; `traced` says what it has."""
    mode = jax_mode(precision="bf16")
    return traced(pytensor.function(inputs, outputs, updates=list(updates), mode=mode))


def products(program, *, of="invars"):
    """Count the convolutions and matrix products by the dtypes of operands, or of results."""
    return Counter(
        tuple(v.aval.dtype.name for v in getattr(equation, of))
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
        names, program = [p.name for p in params], program_of([x, y], outputs)
        results = both([x, y], outputs, [images(), np.eye(4, dtype="float32")])
        return SimpleNamespace(names=names, results=results, program=program)


def both(inputs, outputs, values):
    """Return results in single and in mixed precision."""
    modes = [jax_mode(precision=precision) for precision in ("float32", "bf16")]
    functions = [
        pytensor.function(inputs, outputs, mode=mode, on_unused_input="ignore") for mode in modes
    ]
    return [[np.asarray(v) for v in f(*values)] for f in functions]


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
    Probe.seen.clear()
    program_of(inputs, outputs)
    return [Probe.seen[k] for k in range(len(variables))]


# ------------------------------------------------------------------------------ the rules


@pytest.mark.slow
def test_gradients_are_close(network):
    (loss, *gradients), (low_loss, *low_gradients) = network.results
    np.testing.assert_allclose(low_loss, loss, rtol=0.02)
    for name, got, expected in zip(network.names, low_gradients, gradients, strict=True):
        assert got.dtype == expected.dtype == SINGLE
        lengths = np.linalg.norm(got), np.linalg.norm(expected)
        assert (got * expected).sum() > 0.99 * np.prod(lengths), name
        np.testing.assert_allclose(*lengths, rtol=0.05, err_msg=name)
        assert not np.array_equal(got, expected), name


def test_products_have_operands_of_bfloat16(network):
    assert products(network.program) == {(LOW, LOW): sum(products(network.program).values())}
    assert sum(products(network.program).values()) > 8


def test_transposed_convolutions():
    x, weight = image_variable(), shared("weight", 3, 2, 3, 3)
    y = pt.nn.conv_transpose2d(x, weight, stride=2)
    outputs = [y, *pytensor.grad((y * y).sum(acc_dtype=SINGLE), [x, weight])]
    assert set(products(program_of([x], outputs))) == {(LOW, LOW)}
    for expected, got in zip(*both([x], outputs, [images()]), strict=True):
        np.testing.assert_allclose(got, expected, rtol=0.05, atol=0.02 * np.abs(expected).max())


def normalized(x):
    gamma, beta = shared("gamma", 6, value=1), shared("beta", 6)
    return pt.batch_normalization_train(x, gamma, beta, "spatial")


def pullback(function, x):
    """Return a gradient by `x`, of images that are no less than bfloat16 either."""
    return pytensor.grad(None, x, known_grads={function(x): function(pt.tanh(x))})


FUNCTIONS = [
    (lambda x: x + x, LOW),
    (lambda x: pt.tanh(x), LOW),
    (lambda x: pt.nn.gelu(x), LOW),
    (lambda x: pt.silu(x), LOW),
    (lambda x: pullback(pt.silu, x), LOW),
    (lambda x: pt.nn.max_pool2d(x, 2), LOW),
    (lambda x: pullback(lambda v: pt.nn.max_pool2d(v, 2), x), LOW),
    (lambda x: pt.resize(x, scale=2), LOW),
    (lambda x: pullback(lambda v: pt.resize(v, scale=2), x), LOW),
    (lambda x: pullback(lambda v: correlate(v, shared("others", 6, 6, 3, 3)), x), LOW),
    (lambda x: pt.split(x, [2, 4], n_splits=2, axis=1)[1], LOW),
    (lambda x: normalized(x)[0], LOW),
    (lambda x: normalized(x)[1], SINGLE),
    (lambda x: normalized(x)[2], SINGLE),
    (lambda x: pullback(lambda v: normalized(v)[0], x), LOW),
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
    (lambda x: log_softmax(full_precision(x), axis=1), SINGLE),
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
def test_products_of_layers_and_batches():
    x, weight = pt.tensor("x", dtype="float32", shape=(5, 4)), shared("weight", 4, 4)
    batch = pt.tensor("batch", dtype="float32", shape=(2, 5, 4))
    hidden, batches = x @ weight, batch @ weight
    in_bfloat16 = [
        hidden, weight.T @ x.T, hidden @ hidden.T, softmax(hidden @ hidden.T, axis=1) @ hidden,
        batches, pt.matmul(batches, batches.mT), pt.einsum("bij,bkj->bik", batches, batches),
    ]  # fmt: skip
    in_float32 = [x @ x.T, x @ np.eye(4, dtype="float32"), pt.matmul(batch, batch.mT)]
    found = dtypes_inside([x, batch], [*in_bfloat16, *in_float32])
    assert found == [LOW] * 7 + [SINGLE] * 3


# ------------------------------------------------------------------------------ rounding


def roundings(inputs, outputs):
    """Count how often a program rounds images to bfloat16, but for convolutions' operands."""
    return sum(
        equation.primitive.name == "convert_element_type"
        and equation.outvars[0].aval.dtype.name == LOW
        and equation.invars[0].aval.dtype.name == SINGLE
        and equation.invars[0].aval.shape in ((4, 6, 10, 8), (4, 10, 8, 6))
        for equation in equations(program_of(inputs, outputs).jaxpr)
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
    assert roundings([x], [pt.nn.max_pool2d(y, 2)]) == expected


def test_depthwise_sums_are_rounded_once():
    """On a CPU they are written as sums of products, forward and backward."""
    x = image_variable(shape=(4, 6, 32, 32))
    weight = shared("weight", 6, 1, 3, 3)
    h = correlate(x, weight, num_groups=6)
    gradient = pytensor.grad((h * h).sum(acc_dtype=SINGLE), weight)
    sums = [
        e.outvars[0].aval.dtype.name
        for e in equations(program_of([x], [gradient]).jaxpr)
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
