"""Initializers that several nodes, bodies or lists of a file share, as in onnxruntime."""

import numpy as np
import onnxruntime as ort
import pytest
from onnx import helper

import pytensor.tensor as pt
from pytensor import function, grad
from pytensor.link.onnx import ImportedModelError, from_onnx
from pytensor.link.onnx.importing.model import graphs
from tests.link.onnx.importing.small_files import (
    BOOL,
    INT64,
    body,
    compare,
    info,
    model,
    node,
    ones,
    run,
)
from tests.link.onnx.importing.with_onnxruntime import PYTHON

W = np.float32([3, 4])
X = np.float32([1, 2])


def branches(then, otherwise, **more):
    """Return a model of an If, whose inputs are the condition "c" and the vector "x"."""
    both = node("If", "c", then_branch=then, else_branch=otherwise)
    return model(both, [("c", [], BOOL), ("x", [2])], **more)


def loop(nodes, carried="v", first="x", values=(), own=()):
    """Build three trips of a loop that carries one vector, which its nodes make "u" of."""
    inputs = [("i", [], INT64), ("c", [], BOOL), (carried, [2])]
    inner = body([node("Identity", "c", "c2"), *nodes], [("c2", [], BOOL), ("u", [2])], inputs, own)
    outer = node("Loop", f"M _ {first}", body=inner)
    values = {"M": np.array(3), **dict(values)}
    return model(outer, [("x", [2])], values=values)


def in_version_3(network):
    """Make all initializers inputs, behind those proper, as files once had to have them."""
    network.ir_version = 3
    for graph in graphs(network.graph):
        for value in graph.initializer:
            graph.input.append(
                helper.make_tensor_value_info(value.name, value.data_type, value.dims)
            )
    return network


DOUBLED = node("Mul", "x w", "e")
FILES = {
    "two nodes": model(
        [node("Add", "x w", "a"), node("Mul", "a w")], [("x", [2])], values={"w": W}
    ),
    "an output": model(
        node("Add", "x w"), [("x", [2])], [("y", [2]), ("w", [2]), ("x", [2])], {"w": W}
    ),
    "an input and an output": model(
        node("Add", "x w"), [("x", [2]), ("w", [2])], [("y", [2]), ("w", [2])], {"w": W}
    ),
    "two names": model(
        [node("Identity", "w", "v"), node("Add", "x v", "a"), node("Mul", "a w")],
        [("x", [2])],
        [("y", None), ("v", None), ("w", None)],
        {"w": W},
    ),
    "a loop's body": loop([node("Mul", "v w", "u")], values={"w": W}),
    "a loop's body of its own": loop([node("Mul", "v k", "u")], own={"k": W}),
    "carried and read": loop(
        [node("Mul", "v w", "t"), node("Add", "t x", "u")], "v", "w", {"w": W}
    ),
    "carried by its name": loop([node("Add", "w x", "u")], "w", "w", {"w": W}),
    "a loop's body in version 3": in_version_3(
        loop([node("Mul", "v k", "t"), node("Mul", "t w", "u")], own={"k": W}, values={"w": W})
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_an_initializer_in(name):
    compare(FILES[name], X)


@pytest.mark.parametrize("condition", [True, False])
def test_an_initializer_in_branches(condition):
    given = np.array(condition), X
    compare(branches(body(node("Add", "x w", "t"), [("t", [2])]), body(DOUBLED, [("e", [2])]),
                     values={"w": W}), *given)  # fmt: skip
    # Of one name, beside each other; one is the branch's output
    sum_of_own = body(node("Add", "x w", "t"), [("t", [2])], values={"w": W})
    own = body([], [("w", [2])], values={"w": 2 * W})
    compare(branches(sum_of_own, own), *given)
    # And of the name of what follows
    later = branches(sum_of_own, body(DOUBLED, [("e", [2])], values={"w": 2 * W}))
    later.graph.node.append(node("Neg", "y", "w"))
    later.graph.output.append(info("w", [2]))
    compare(later, *given)


def test_a_default_may_be_replaced():
    """An initializer that is an input, too, is its default."""
    network = model(node("Add", "x w"), [("x", [2]), ("w", [2])], values={"w": W})
    assert list(from_onnx(network).inputs) == ["x"]
    compare(network, X)
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
    network = model(node("Add", "x w"), [("x", [2]), ("w", [2])], values={"w": W})
    with pytest.raises(ValueError, match="trainable has 'w'; the model's initializers are none"):
        from_onnx(network, inputs={"w": pt.fvector()}, trainable=["w"])


def test_gradients_of_what_nodes_share_add_up():
    both = [node("Mul", "x w", "a"), node("Mul", "a w")]
    read = from_onnx(model(both, [("x", [2])], values={"w": W}), trainable=True)
    gradient = grad(read.outputs["y"].sum(), read.parameters["w"])
    result = function([read.inputs["x"]], gradient, mode=PYTHON)(X)
    np.testing.assert_array_equal(result, 2 * W * X)


def test_training_leaves_shared_statistics():
    """The text is NumPy's result; onnxruntime writes the new statistics over its initializers."""
    x = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    trained = node("BatchNormalization", "x o z z o", "h m v", training_mode=1)
    network = model(
        [trained, node("Add", "h z")], [("x", [5, 3])], values={"z": 0 * ones(3), "o": ones(3)}
    )
    wanted = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5)
    np.testing.assert_allclose(run(network, x)[0], wanted, rtol=1e-5, atol=1e-6)
    read = from_onnx(network, trainable=True)
    compute = function([read.inputs["x"]], read.outputs["y"], updates=read.updates, mode=PYTHON)
    np.testing.assert_allclose(compute(x), wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(read.parameters["z"].get_value(), 0.1 * x.mean(0), rtol=1e-4)


SHADOWED = body(node("Add", "x w", "t"), [("t", [2])], values={"w": 10 * W})
REFUSED = {
    # onnxruntime takes the outer one here, and the inner one in a loop
    "an initializer has the name 'w'": branches(
        SHADOWED, body(DOUBLED, [("e", [2])]), values={"w": W}
    ),
    "an initializer has the name 'x'": branches(
        body(node("Identity", "x", "t"), [("t", [2])], values={"x": W}),
        body(node("Neg", "x", "e"), [("e", [2])]),
    ),
    "a node Neg has the name 'w'": branches(
        body(node("Neg", "x", "w"), [("w", [2])]), body(DOUBLED, [("e", [2])]), values={"w": W}
    ),
    "output 'w' is a value from outside": branches(
        body([], [("w", [2])]), body(DOUBLED, [("e", [2])]), values={"w": W}
    ),
    "'v' is an input and an initializer of a body": loop([node("Mul", "v x", "u")], own={"v": W}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_the_standard_forbids_in_bodies_is_refused(reason):
    with pytest.raises(ImportedModelError, match=reason):
        from_onnx(REFUSED[reason])
