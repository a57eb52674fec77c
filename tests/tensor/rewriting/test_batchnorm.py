import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.builders import OpFromGraph
from pytensor.compile.mode import Mode
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor.batchnorm import (
    BatchNormalization,
    BatchNormalizationTrain,
    BatchNormalizationTrainGrad,
    inference_form,
)
from pytensor.tensor.conv import conv, conv_transpose
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose
from pytensor.tensor.pullback import SymbolicPullback
from tests.utils import REFERENCE_MODE

# No compilation of C code, which would take longer than the tests
PYTHON = Mode("py", "fast_run").excluding("fusion", "inplace")
RNG = np.random.default_rng(0)
FOLD = "local_fold_batch_normalization_into_convolution"


def nodes(function, *op_classes):
    return [n for n in function.maker.fgraph.toposort() if isinstance(n.op, op_classes)]


def shared(*shape, name=None, dtype="float64"):
    return pytensor.shared(RNG.uniform(0.5, 1.5, shape).astype(dtype), name=name, shape=shape)


def network(dtype="float64"):
    """Return input, output, parameters and updates of two layers in training form."""
    x = pt.tensor("x", shape=(None, 2, None, None), dtype=dtype)
    h, updates, parameters = x, [], []
    for i, (c_in, c_out) in enumerate([(2, 3), (3, 4)]):
        w = shared(c_out, c_in, 2, 3, name=f"conv{i}.weight", dtype=dtype)
        gamma, beta, mean, var = (shared(c_out, name=f"bn{i}.{n}", dtype=dtype) for n in "gbmv")
        h, _, _, new_mean, new_var = pt.batch_normalization_train(
            pt.conv2d(h, w), gamma, beta, "spatial", running_mean=mean, running_var=var
        )
        h = pt.silu(h)
        updates += [(mean, new_mean), (var, new_var)]
        parameters += [w, gamma, beta, mean, var]
    return x, h, parameters, updates


IMAGE = RNG.normal(size=(3, 2, 6, 8))


def inference_reference(x, parameters):
    h = x
    for w, gamma, beta, mean, var in (parameters[:5], parameters[5:]):
        h = pt.silu(pt.batch_normalization(pt.conv2d(h, w), gamma, beta, mean, var))
    return pytensor.function([x], h, mode=REFERENCE_MODE)(IMAGE)


def test_inference_form_of_a_network():
    x, out, parameters, _ = network()
    result = pytensor.function([x], inference_form(out), mode=REFERENCE_MODE)(IMAGE)
    np.testing.assert_allclose(result, inference_reference(x, parameters), rtol=1e-10)


def test_inference_form_by_mode():
    x, out, parameters, updates = network()
    mode = PYTHON.including("batch_normalization_inference")
    before = [p.get_value() for p in parameters]
    f = pytensor.function([x], out, updates=updates, mode=mode)
    assert not nodes(f, BatchNormalizationTrain)
    np.testing.assert_allclose(f(IMAGE), inference_reference(x, parameters), rtol=1e-9)
    for old, parameter in zip(before, parameters, strict=True):
        np.testing.assert_array_equal(parameter.get_value(), old)


@pytest.mark.slow
def test_training_form_stays_unless_asked_for():
    x, out, *_ = network()
    assert len(nodes(pytensor.function([x], out, mode=PYTHON), BatchNormalizationTrain)) == 2


def test_differentiate_the_inference_form():
    x, out, parameters, _ = network()
    w, gamma = parameters[:2]
    gradients = pytensor.grad(inference_form(out).sum(), [w, gamma])
    f = pytensor.function([x], gradients, mode=PYTHON)
    assert not nodes(f, BatchNormalizationTrain, BatchNormalizationTrainGrad)


def failing():
    x = pt.matrix("x")
    scale, offset = (pt.vector(name, shape=(2,)) for name in ("layer7.scale", "layer7.offset"))
    statistics = [pt.vector(shape=(2,)) for _ in range(2)]
    for name in ("running_mean", "running_var"):
        out, *_ = pt.batch_normalization_train(x, scale, offset, **{name: statistics[0]})
        yield out, "scale 'layer7.scale' and offset 'layer7.offset' has no running mean or variance"
    row = scale[None].dimshuffle(0, 1)
    out, *_ = pt.batch_normalization_train(x, pt.specify_shape(row, (1, 2)), offset)
    yield out, "scale 'layer7.scale' and offset"
    out, *_ = pt.batch_normalization_train(
        x, scale, offset, running_mean=statistics[0], running_var=statistics[1]
    )
    yield pytensor.grad(out.sum(), x), "contains gradients of batch normalization"
    layer = OpFromGraph([x, scale, offset, *statistics], [out])
    yield layer(x, scale, offset, *statistics), "make the inference form of its inner graph"


@pytest.mark.parametrize(("out", "message"), list(failing()))
def test_no_inference_form(out, message):
    with pytest.raises(ValueError, match=message):
        inference_form(out)
    mode = PYTHON.including("batch_normalization_inference")
    inputs = list(explicit_graph_inputs([out]))
    with pytest.raises(ValueError, match=message):
        pytensor.function(inputs, out, mode=mode, on_unused_input="ignore")


def normalized(h, channels, dtype="float64", **options):
    parameters = [shared(channels, dtype=dtype) for _ in range(4)]
    return pt.batch_normalization(h, *parameters, **options)


def check_folding(x, out, value, folded=True, tolerance=1e-11):
    f = pytensor.function([x], out, mode=PYTHON)
    assert bool(nodes(f, BatchNormalization)) is not folded
    with pytensor.config.change_flags(cxx=""):
        expected = pytensor.function([x], out, mode=REFERENCE_MODE)(value)
    results = f(value)
    if not isinstance(expected, list):
        expected, results = [expected], [results]
    for result, wanted in zip(results, expected, strict=True):
        assert result.dtype == wanted.dtype
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
    return f


@pytest.mark.parametrize("bias", [None, "vector", "two", "row"])
@pytest.mark.parametrize("static", [True, False])
def test_fold_into_convolution(bias, static):
    x = pt.tensor("x", shape=(3, 2, 6, 8) if static else (None,) * 4)
    h = pt.conv2d(x, shared(4, 2, 2, 3), subsample=(2, 1))
    if bias in ("vector", "two"):
        h = h + shared(4)[:, None, None]
    if bias == "two":
        h = shared(4)[None, :, None, None] + h
    if bias == "row":
        # Another number for every column isn't a bias per channel
        h = h + shared(6)
    f = check_folding(x, normalized(h, 4), IMAGE, folded=bias != "row")
    assert len(nodes(f, Conv)) == 1


@pytest.mark.parametrize("spatial", [1, 3])
def test_fold_into_other_convolutions(spatial):
    value = RNG.normal(size=(2, 4, *(5, 4, 6)[:spatial]))
    x = pt.tensor("x", shape=(None,) * value.ndim)
    h = conv(x, shared(6, 2, *(2, 3, 2)[:spatial]), num_groups=2)
    check_folding(x, normalized(h, 6), value)


@pytest.mark.parametrize("groups", [1, 2])
def test_fold_into_transposed_convolution(groups):
    x = pt.tensor("x", shape=(None, 4, None, None))
    h = conv_transpose(x, shared(4, 3, 2, 3), subsample=(2, 1), num_groups=groups)
    value = RNG.normal(size=(2, 4, 3, 5))
    f = check_folding(x, normalized(h, 3 * groups), value, folded=groups == 1)
    assert len(nodes(f, ConvTranspose)) == 1


def test_fold_in_single_precision():
    x = pt.tensor("x", shape=(None, 2, None, None), dtype="float32")
    out = normalized(pt.conv2d(x, shared(4, 2, 2, 3, dtype="float32")), 4, "float32")
    check_folding(x, out, IMAGE.astype("float32"), tolerance=2e-5)


def test_not_folded():
    x = pt.tensor("x", shape=(None, 2, None, None))
    w = shared(4, 2, 2, 3)
    h = pt.conv2d(x, w)
    # Another reader of the convolution, or of the sum with its bias
    check_folding(x, [normalized(h, 4), h], IMAGE, folded=False)
    biased = h + shared(4)[:, None, None]
    check_folding(x, [normalized(biased, 4), biased], IMAGE, folded=False)
    check_folding(x, [normalized(biased, 4), h], IMAGE, folded=False)
    # Other axes, no convolution, the mode
    check_folding(x, normalized(h, 6, axes=(0, 1, 2)), IMAGE, folded=False)
    check_folding(x, normalized(pt.silu(h), 4), IMAGE, folded=False)
    f = pytensor.function([x], normalized(h, 4), mode=PYTHON.excluding(FOLD))
    assert nodes(f, BatchNormalization)


def test_not_folded_in_half_precision():
    x = pt.tensor("x", shape=(None, 2, None, None), dtype="float16")
    w = pt.tensor("w", shape=(4, 2, 2, 3), dtype="float16")
    out = normalized(pt.conv2d(x, w), 4, "float16")
    new = rewrite_graph(out, include=("canonicalize", "specialize"))
    assert isinstance(new.owner.op, BatchNormalization)


def test_not_folded_where_a_gradient_reads_the_convolution():
    x = pt.tensor("x", shape=(None, 2, None, None))
    w = shared(4, 2, 2, 3)
    out = normalized(pt.conv2d(x, w), 4)
    gamma = out.owner.inputs[1]
    f = pytensor.function([x], [out, pytensor.grad((out**2).sum(), gamma)], mode=PYTHON)
    assert len(nodes(f, Conv)) == 1
    assert nodes(f, BatchNormalization)


def test_fold_in_mode_jax():
    pytest.importorskip("jax")
    x = pt.tensor("x", shape=(None, 2, None, None))
    out = pt.silu(normalized(pt.conv2d(x, shared(4, 2, 2, 3)), 4))
    f = pytensor.function([x], out, mode="JAX")
    assert not nodes(f, BatchNormalization)
    expected = pytensor.function([x], out, mode=REFERENCE_MODE)(IMAGE)
    np.testing.assert_allclose(f(IMAGE), expected, rtol=1e-10)


@pytest.mark.slow
def test_unread_gradients_of_batch_normalization():
    x, out, parameters, _ = network()
    w, gamma, beta = parameters[:3]
    cost = (out**2).sum()
    expected = dict(
        zip(
            (x, w, gamma, beta),
            pytensor.function([x], pytensor.grad(cost, [x, w, gamma, beta]), mode=REFERENCE_MODE)(
                IMAGE
            ),
            strict=True,
        )
    )
    for wrt, first in [([gamma], (1,)), ([beta, gamma], (1, 2)), ([w], (0,)), ([x, beta], (0, 2))]:
        f = pytensor.function([x], pytensor.grad(cost, wrt), mode=PYTHON)
        second, last = (n.op.wanted for n in nodes(f, BatchNormalizationTrainGrad))
        assert (second, last) == ((0,), first)
        for result, variable in zip(f(IMAGE), wrt, strict=True):
            np.testing.assert_allclose(result, expected[variable], rtol=1e-9, atol=1e-12)


def test_unread_gradients_of_convolutions():
    """They are nodes of their own, which aren't in the graph."""
    x, out, parameters, _ = network()
    gradients = pytensor.grad(out.sum(), [parameters[0], parameters[5]])
    f = pytensor.function([x], gradients, mode=PYTHON)
    assert len(nodes(f, ConvGradFilters)) == 2
    assert len(nodes(f, ConvGradInput)) == 1


def test_unread_gradients_of_another_normalization():
    value = RNG.normal(size=(3, 4, 4))
    scale = np.array([1.0, 2.0, 0.5, 1.5])
    x, p = pt.tensor3("x"), pt.vector("p")
    for wrt, wanted in [(x, (0,)), (p, (1,))]:
        cost = (pt.nn.rms_norm(x, (None,), p) ** 3).sum()
        f = pytensor.function([x, p], pytensor.grad(cost, wrt), mode=PYTHON)
        (node,) = nodes(f, SymbolicPullback)
        assert node.op.wanted == wanted
        assert len(node.outputs) == 1
        reference = pytensor.function([x, p], pytensor.grad(cost, wrt), mode=REFERENCE_MODE)
        np.testing.assert_allclose(f(value, scale), reference(value, scale), rtol=1e-10)


def test_all_gradients_are_read():
    x, p = pt.tensor3("x"), pt.vector("p")
    cost = (pt.nn.layer_norm(x, x.type.shape[-1:], p) ** 3).sum()
    f = pytensor.function([x, p], pytensor.grad(cost, [x, p]), mode=PYTHON)
    (node,) = nodes(f, SymbolicPullback)
    assert node.op.wanted == (0, 1)
