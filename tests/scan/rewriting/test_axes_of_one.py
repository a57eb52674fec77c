"""Loops whose types don't agree on which axes have length 1 are computed all the same."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.scan.op import Scan
from pytensor.scan.rewriting.axes_of_one import with_agreed_axes

W = np.array([[0.5, -1, 0.2], [0.3, 0.1, -0.4], [-0.2, 0.6, 0.9]])
X = np.linspace(-1, 1, 6).reshape(1, 2, 3)


def loop(step, *sequences, start, constants=()):
    return pytensor.scan(
        step,
        sequences=list(sequences),
        outputs_info=[start],
        non_sequences=list(constants),
        n_steps=None if sequences else 3,
        return_updates=False,
    )


def layer(x):
    """Return the states of a recurrent layer; `x` has the axes time, batch and channel."""
    return loop(lambda row, h: pt.tanh(row @ W + h), x, start=pt.zeros((x.shape[1], 3)))


def layer_in_numpy(x):
    states = [np.zeros(x.shape[1:])]
    for row in x:
        states.append(np.tanh(row @ W + states[-1]))
    return np.array(states[1:])


def swapped(x):
    """Let a layer run over the batch of one before it, which then is a batch of one."""
    return layer(x).dimshuffle(1, 0, 2)


SWAPPED = layer_in_numpy(X).transpose(1, 0, 2)


def repeated(step, state):
    states = []
    for _ in range(3):
        states.append(state := step(state))
    return np.array(states)


def of_two_layers(x):
    return layer(swapped(x)), layer_in_numpy(SWAPPED)


def of_two_taps(x):
    y = pytensor.scan(
        lambda row, a, b: pt.tanh(row + a @ W - b),
        sequences=[swapped(x)],
        outputs_info=[{"initial": pt.ones((2, x.shape[0], 3)), "taps": [-2, -1]}],
        return_updates=False,
    )
    states = [np.ones((1, 3))] * 2
    for row in SWAPPED:
        states.append(np.tanh(row + states[-2] @ W - states[-1]))
    return y, np.array(states[2:])


def of_a_constant_input(x):
    row = swapped(x)[0]
    y = loop(lambda h, row: pt.tanh(h + row @ W), start=pt.zeros((x.shape[0], 3)), constants=[row])
    return y, repeated(lambda h: np.tanh(h + SWAPPED[0] @ W), np.zeros((1, 3)))


def of_a_loop_in_a_loop(x):
    z = swapped(x)
    y = loop(
        lambda row, h, z: pt.tanh(h + row @ W + layer(z).sum(0)),
        z,
        start=pt.zeros((x.shape[0], 3)),
        constants=[z],
    )
    h, states, inner = np.zeros((1, 3)), [], layer_in_numpy(SWAPPED).sum(0)
    for row in SWAPPED:
        states.append(h := np.tanh(h + row @ W + inner))
    return y, np.array(states)


def of_an_open_start(x):
    """Start with a length that nothing tells, where each step's result has length 1."""
    start = pt.zeros((x.shape[1] - 1, 3))
    y = loop(lambda h: pt.tanh(h.sum(0, keepdims=True) @ W + 1), start=start)
    return y, repeated(lambda h: np.tanh(h @ W + 1), np.zeros((1, 3)))


LOOPS = [of_two_layers, of_two_taps, of_a_constant_input, of_a_loop_in_a_loop, of_an_open_start]
MODES = ["FAST_COMPILE", "ONNX", "jax_mode"]


def mode_of(name):
    if name == "jax_mode":
        return pytest.importorskip("pytensor.link.jax.mode").jax_mode()
    return name


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("make", LOOPS)
def test_axes_of_one_in_loops(make, mode, capsys):
    x = pt.tensor("x", shape=(1, None, 3))
    y, right = make(x)
    f = pytensor.function([x], y, mode=mode_of(mode))
    np.testing.assert_allclose(f(X), right, rtol=1e-6)
    assert "Error" not in capsys.readouterr().err  # a rewrite that failed says so there


def of_an_open_state(x):
    start = x[0, :1].sum(1, keepdims=True) + pt.zeros((x.shape[1] - 1, 3))
    return loop(lambda h: pt.tanh(h.sum(0, keepdims=True) @ W + 1), start=start), None


@pytest.mark.slow
@pytest.mark.parametrize("make", [*LOOPS[:4], of_an_open_state])
def test_gradients_of_axes_of_one(make):
    x = pt.tensor("x", shape=(1, None, 3))
    y = make(x)[0]
    loss = pt.sin(3 * y + 1).sum()
    f = pytensor.function([x], [loss, pytensor.grad(loss, x)], mode="FAST_COMPILE")
    differences = []
    for place in np.eye(X.size).reshape(X.size, *X.shape) * 1e-5:
        differences.append((f(X + place)[0] - f(X - place)[0]) / 2e-5)
    np.testing.assert_allclose(f(X)[1].ravel(), differences, rtol=1e-6, atol=1e-8)


@pytest.mark.slow
def test_a_second_gradient_is_that_of_open_lengths():
    values = []
    for shape in ((1, None, 3), (None, None, 3)):
        x = pt.tensor("x", shape=shape)
        gradient = pytensor.grad((of_two_layers(x)[0] ** 2).sum(), x)
        second = pytensor.grad((gradient**2).sum(), x)
        values.append(pytensor.function([x], second, mode="FAST_COMPILE")(X))
    np.testing.assert_allclose(*values, rtol=1e-8)


def test_a_loop_and_its_gradient_share_the_states():
    x = pt.matrix("x")
    y = loop(lambda h, x: pt.tanh(h + x), start=pt.zeros((1, 3)), constants=[x])
    gradient = pytensor.grad(y.sum(), x)
    f = pytensor.function([x], [y, gradient], mode=pytensor.compile.Mode("py", "fast_run"))
    assert sum(isinstance(node.op, Scan) for node in f.maker.fgraph.apply_nodes) == 2


def test_another_length_than_one_is_an_error():
    x = pt.matrix("x")
    y = loop(lambda h, x: h + x, start=pt.zeros((1, 3)), constants=[x])
    f = pytensor.function([x], y, mode="FAST_COMPILE")
    np.testing.assert_equal(f(np.ones((1, 3))), [[[1] * 3], [[2] * 3], [[3] * 3]])
    with pytest.raises(AssertionError, match="SpecifyShape"):
        f(np.ones((2, 3)))


def scan_nodes(y):
    fgraph = pytensor.graph.FunctionGraph(outputs=[y], clone=False)
    return [node for node in fgraph.toposort() if isinstance(node.op, Scan)]


def test_loops_that_agree_stay():
    x = pt.tensor3("x")
    (node,) = scan_nodes(layer(x))
    op, inputs = with_agreed_axes(node.op, node.inputs)
    assert op is node.op
    assert inputs is node.inputs


def test_a_length_that_contradicts_stays():
    """PyTensor's error says what is wrong."""
    x = pt.tensor("x", shape=(4, 3))
    (node,) = scan_nodes(loop(lambda h, x: h + x, start=pt.zeros((1, 3)), constants=[x]))
    op, _ = with_agreed_axes(node.op, node.inputs)
    assert op is node.op


def test_a_sequence_tells_of_all_steps():
    (node,) = scan_nodes(layer(pt.tensor3("x")))
    n_steps, _, *others = node.inputs
    op, inputs = with_agreed_axes(node.op, [n_steps, pt.tensor("x", shape=(None, 1, 3)), *others])
    assert op.make_node(*inputs).op.inner_inputs[0].type.shape == (1, None)
