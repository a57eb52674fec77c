"""Initializers that several nodes, bodies or lists of a file share, as in onnxruntime."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.link.onnx import ImportedModelError, from_onnx
from pytensor.link.onnx.importing.model import graphs
from tests.link.onnx.importing.with_onnxruntime import (
    PYTHON,
    compare,
    in_pytensor,
    ones,
    parsed,
)

W = np.float32([3, 4])
X = np.float32([1, 2])


def branches(then, otherwise, values=""):
    """Return a model of an If, whose inputs are the condition "c" and the vector "x"."""
    return parsed(f"""(bool c, float[2] x) => (float[2] y) <{values}>
        {{ y = If(c) <then_branch = {then}, else_branch = {otherwise}> }}""")


def loop(nodes, carried="v", first="x", own="", values=""):
    """Build three trips of a loop that carries one vector, which its nodes make "u" of."""
    return parsed(f"""(float[2] x) => (float[2] y) <{values} int64 M = {{3}}>
        {{ y = Loop(M, , {first}) <body = b (int64 i, bool c, float[2] {carried})
            => (bool c2, float[2] u) <{own}> {{ c2 = Identity(c) {nodes} }}> }}""")


def in_version_3(network):
    """Make all initializers inputs, behind those proper, as files once had to have them."""
    network.ir_version = 3
    for graph in graphs(network.graph):
        for value in graph.initializer:
            graph.input.append(
                helper.make_tensor_value_info(value.name, value.data_type, value.dims)
            )
    return network


OWN, W_OF = "float[2] k = {3, 4}", "float[2] w = {3, 4}"
SUM = "b () => (float[2] a) { a = Add(x, w) }"
DOUBLED = "b () => (float[2] a) { a = Mul(x, w) }"
SUM_OF_OWN = f"b () => (float[2] a) <{W_OF}> {{ a = Add(x, w) }}"
TWICE = "float[2] w = {6, 8}"
FILES = {
    "two nodes": parsed("(float[2] x) => (float[2] y) { a = Add(x, w) y = Mul(a, w) }", w=W),
    "an output": parsed(
        "(float[2] x) => (float[2] y, float[2] w, float[2] x) { y = Add(x, w) }", w=W
    ),
    "an input and an output": parsed(
        "(float[2] x, float[2] w) => (float[2] y, float[2] w) { y = Add(x, w) }", w=W
    ),
    "two names": parsed(
        """(float[2] x) => (float[2] y, float[2] v, float[2] w)
        { v = Identity(w) a = Add(x, v) y = Mul(a, w) }""",
        w=W,
    ),
    "a loop's body": loop("u = Mul(v, w)", values=f"{W_OF},"),
    "a loop's body of its own": loop("u = Mul(v, k)", own=OWN),
    "carried and read": loop("t = Mul(v, w) u = Add(t, x)", first="w", values=f"{W_OF},"),
    "carried by its name": loop("u = Add(w, x)", "w", "w", values=f"{W_OF},"),
    "a loop's body in version 3": in_version_3(
        loop("t = Mul(v, k) u = Mul(t, w)", own=OWN, values=f"{W_OF},")
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_initializer_in(name):
    compare(FILES[name], [X])


@pytest.mark.parametrize("condition", [True, False])
def test_an_initializer_in_branches(condition):
    given = np.array(condition), X
    compare(branches(SUM, DOUBLED, W_OF), given)
    # Of one name, beside each other; one is the branch's output
    compare(branches(SUM_OF_OWN, f"b () => (float[2] w) <{TWICE}> {{ }}"), given)
    # And of the name of what follows
    later = branches(SUM_OF_OWN, f"b () => (float[2] a) <{TWICE}> {{ a = Mul(x, w) }}")
    later.graph.node.append(helper.make_node("Neg", ["y"], ["w"]))
    later.graph.output.append(helper.make_tensor_value_info("w", 1, [2]))
    compare(later, given)


DEFAULT = parsed("(float[2] x, float[2] w) => (float[2] y) { y = Add(x, w) }", w=W)


def test_a_default_may_be_replaced():
    """An initializer that is an input, too, is its default."""
    network = DEFAULT
    assert list(from_onnx(network).inputs) == ["x"]
    compare(network, [X])
    w = pt.vector("w", dtype="float32")
    read = from_onnx(network, inputs={"w": w}, trainable=True)
    assert list(read.inputs) == ["x", "w"]
    assert not read.parameters
    compute = function([read.inputs["x"], w], read.outputs["y"], mode=PYTHON)
    session = ort.InferenceSession(network.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": X, "w": 10 * W})
    np.testing.assert_array_equal(compute(X, 10 * W), wanted)
    with pytest.raises(TypeError, match="the input 'w' is of dtype float32 and has 1 axes"):
        from_onnx(network, inputs={"w": pt.fmatrix()})


def test_an_initializer_replaced_cannot_be_trained():
    with pytest.raises(ValueError, match="trainable has 'w'; the model's initializers are none"):
        from_onnx(DEFAULT, inputs={"w": pt.fvector()}, trainable=["w"])


def test_gradients_of_what_nodes_share_add_up():
    text = "(float[2] x) => (float[2] y) { a = Mul(x, w) y = Mul(a, w) }"
    read = from_onnx(parsed(text, w=W), trainable=True)
    gradient = grad(read.outputs["y"].sum(), read.parameters["w"])
    result = function([read.inputs["x"]], gradient, mode=PYTHON)(X)
    np.testing.assert_array_equal(result, 2 * W * X)


def test_training_leaves_shared_statistics():
    """The text is NumPy's result; onnxruntime writes the new statistics over its initializers."""
    x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    network = parsed("""(float[5, 3] x) => (float[5, 3] y)
        { h, m, v = BatchNormalization<training_mode = 1>(x, o, z, z, o) y = Add(h, z) }""",
        z=0 * ones(3), o=ones(3))  # fmt: skip
    wanted = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    np.testing.assert_allclose(in_pytensor(network, [x])[0], wanted, rtol=1e-5, atol=1e-6)
    read = from_onnx(network, trainable=True)
    compute = function([read.inputs["x"]], read.outputs["y"], updates=read.updates, mode=PYTHON)
    np.testing.assert_allclose(compute(x), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(read.parameters["z"].get_value(), 0.1 * x.mean(0), rtol=1e-4)


SHADOWED = "b () => (float[2] a) <float[2] w = {30, 40}> { a = Add(x, w) }"
REFUSED = {
    # onnxruntime takes the outer one here, and the inner one in a loop
    "an initializer has the name 'w'": branches(SHADOWED, DOUBLED, W_OF),
    "an initializer has the name 'x'": branches(
        "b () => (float[2] a) <float[2] x = {3, 4}> { a = Identity(x) }",
        "b () => (float[2] a) { a = Neg(x) }",
    ),
    "a node Neg has the name 'w'": branches(
        "b () => (float[2] w) { w = Neg(x) }", DOUBLED, W_OF
    ),
    "output 'w' is a value from outside": branches(
        "b () => (float[2] w) { }", DOUBLED, W_OF
    ),
    "'v' is an input and an initializer of a body": loop(
        "u = Mul(v, x)", own="float[2] v = {3, 4}"
    ),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_the_standard_forbids_in_bodies_is_refused(reason):
    with pytest.raises(ImportedModelError, match=reason):
        from_onnx(REFUSED[reason])
