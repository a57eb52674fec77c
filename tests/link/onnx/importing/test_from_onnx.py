"""`from_onnx`: names, trainable parameters, given inputs, and models that are damaged or lie."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx_ir")
link = pytest.importorskip("pytensor.link.onnx")
export_onnx, from_onnx = link.export_onnx, link.from_onnx
ImportedOpError = link.ImportedOpError
TensorProto, helper, numpy_helper = onnx.TensorProto, onnx.helper, onnx.numpy_helper

FLOAT = TensorProto.FLOAT
W = np.arange(6, dtype="float32").reshape(3, 2)


def model(nodes, initializers=(), inputs=(("x", FLOAT, ["N", 3]),), outputs=(("y", FLOAT, None),)):
    """A model of nodes given as (operator, inputs, outputs) and initializers as (name, array)."""
    graph = helper.make_graph(
        [helper.make_node(*node) for node in nodes],
        "test",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(*o) for o in outputs],
        [numpy_helper.from_array(array, name) for name, array in initializers],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)])


@pytest.fixture
def linear():
    return model([("MatMul", ["x", "w"], ["y"])], [("w", W)])


def test_names_and_order(linear):
    imported = from_onnx(linear)
    assert list(imported.inputs) == ["x"]
    assert list(imported.outputs) == ["y"]
    x = imported.inputs["x"]
    assert x.name == "x"
    assert x.type.dtype == "float32"
    assert x.type.shape == (None, 3)
    assert isinstance(imported.parameters["w"], Constant)
    assert imported.updates == {}
    value = np.ones((4, 3), "float32")
    np.testing.assert_array_equal(imported.outputs["y"].eval({x: value}), value @ W)


@pytest.mark.parametrize("form", ["path", "text", "bytes", "proto"])
def test_forms_of_a_model(tmp_path, linear, form):
    path = tmp_path / "model.onnx"
    onnx.save(linear, path)
    forms = {"path": path, "text": str(path), "bytes": path.read_bytes(), "proto": linear}
    assert list(from_onnx(forms[form]).outputs) == ["y"]


def test_trainable_parameters_can_be_trained(linear):
    imported = from_onnx(linear, trainable=True)
    w, y = imported.parameters["w"], imported.outputs["y"]
    assert isinstance(w, SharedVariable)
    assert w.name == "w"
    assert w.type.shape == (3, 2)
    (gradient,) = pytensor.grad(y.sum(), [w])
    step = pytensor.function([imported.inputs["x"]], updates={w: w - gradient})
    step(np.ones((1, 3), "float32"))
    np.testing.assert_array_equal(w.get_value(), W - 1)
    assert linear.graph.initializer[0].name == "w"
    np.testing.assert_array_equal(numpy_helper.to_array(linear.graph.initializer[0]), W)


def test_trainable_takes_names():
    nodes = [("MatMul", ["x", "w"], ["h"]), ("Add", ["h", "b"], ["y"])]
    two = model(nodes, [("w", W), ("b", np.ones(2, "float32"))])
    parameters = from_onnx(two, trainable=["b"]).parameters
    assert isinstance(parameters["b"], SharedVariable)
    assert isinstance(parameters["w"], Constant)
    with pytest.raises(ValueError, match="trainable has 'c'; the model's initializers are 'b'"):
        from_onnx(two, trainable=["c"])


def test_a_network_on_part_of_a_graph(linear):
    z = pt.matrix("z", dtype="float32")
    imported = from_onnx(linear, {"x": pt.exp(z)})
    value = np.zeros((2, 3), "float32")
    np.testing.assert_array_equal(imported.outputs["y"].eval({z: value}), np.exp(value) @ W)
    with pytest.raises(TypeError, match="input 'x' is of dtype float32 and has 2 axes"):
        from_onnx(linear, {"x": pt.vector("v")})
    with pytest.raises(ValueError, match="inputs has 'a'; the model's inputs are 'x'"):
        from_onnx(linear, {"a": z})


def test_sizes_of_one_name_must_be_equal():
    inputs = [("x", FLOAT, ["N", 3]), ("z", FLOAT, ["N", "M"])]
    two = model([("Concat", ["x", "z"], ["y"])], inputs=inputs)
    two.graph.node[0].attribute.append(helper.make_attribute("axis", 1))
    imported = from_onnx(two)
    compute = pytensor.function(list(imported.inputs.values()), imported.outputs["y"])
    x = np.ones((2, 3), "float32")
    assert compute(x, x).shape == (2, 6)
    with pytest.raises(AssertionError):
        compute(x, x[:1])


@pytest.mark.slow
def test_there_and_back():
    x = pt.tensor("x", dtype="float32", shape=(None, 3, 8, 8))
    w = pytensor.shared(np.random.default_rng(0).normal(size=(4, 3, 3, 3)).astype("float32"), "w")
    y = pt.silu(pt.conv2d(x, w, border_mode="half", filter_flip=False)).mean((2, 3))
    imported = from_onnx(export_onnx([x], [y]), trainable=["w"])
    value = np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype("float32")
    (out,) = imported.outputs.values()
    (again,) = imported.inputs.values()
    for wanted, result in (
        (y, out),
        (pytensor.grad(y.sum(), w), pytensor.grad(out.sum(), imported.parameters["w"])),
    ):
        np.testing.assert_allclose(
            result.eval({again: value}), wanted.eval({x: value}), rtol=1e-5, atol=1e-5
        )


# ------------------------------------------------------------------------------ bad input


def refused(broken, message, error=ValueError):
    with pytest.raises(error, match=message):
        from_onnx(broken)


def test_no_model_and_a_model_cut_off(tmp_path, linear):
    path = tmp_path / "model.onnx"
    data = linear.SerializeToString()
    for content in (data[: len(data) // 2], b"GIF89a not a model", b""):
        path.write_bytes(content)
        refused(path, "model.onnx")
    refused(tmp_path / "none.onnx", "none.onnx", FileNotFoundError)


def test_what_does_not_hang_together(linear):
    chain = model([("Add", ["x", "b"], ["a"]), ("Neg", ["a"], ["b"]), ("Neg", ["b"], ["y"])])
    refused(chain, "cycle")
    refused(model([("Add", ["x", "w"], ["y"])]), "node Add reads 'w', which is no input")
    refused(model([("Neg", ["x"], ["z"])]), "nothing makes the output 'y'")
    twice = model([("Neg", ["x"], ["y"]), ("Exp", ["x"], ["y"])])
    refused(twice, "'y' belongs to a node Neg and to a node Exp")
    both = model([("MatMul", ["x", "w"], ["y"])], [("w", W), ("w", W)])
    refused(both, "'w' belongs to an initializer and to an initializer")


def test_operators_that_are_not_known(linear):
    nodes = [("Abs", ["x"], ["a"]), ("Whatever", ["a"], ["b"]), ("Whatever", ["b"], ["y"])]
    unknown = model(nodes)
    unknown.graph.node[1].domain = "org.example"
    unknown.opset_import.append(helper.make_opsetid("org.example", 1))
    unknown.graph.node[1].name = "first"
    refused(unknown, r"1 x org.example.Whatever: there is no converter", ImportedOpError)
    two = model([("Whatever", ["x"], ["y"]), ("Another", ["x"], ["z"])])
    refused(two, r"(?s)2 node\(s\).*Whatever.*Another", ImportedOpError)


def test_models_that_lie_about_types():
    declared = ("h", TensorProto.INT64, ["N", 2])
    lie = model([("MatMul", ["x", "w"], ["h"]), ("Neg", ["h"], ["y"])], [("w", W)])
    lie.graph.value_info.append(helper.make_tensor_value_info(*declared))
    refused(lie, "says that 'h' is of dtype int64, and its inputs make it float32", ImportedOpError)
    outputs = [("y", FLOAT, ["N", 5])]
    shape = model([("MatMul", ["x", "w"], ["y"])], [("w", W)], outputs=outputs)
    refused(shape, r"'y' has the shape \(None, 5\)", ImportedOpError)
    wrong = model([("MatMul", ["x", "w"], ["y"])], [("w", np.ones((4, 2), "float32"))])
    refused(wrong, "MatMul", ImportedOpError)


def test_old_operator_sets(linear):
    linear.opset_import[0].version = 9
    refused(linear, "of opset 9; 13 to .* can be imported. onnx.version_converter")


def test_values_in_files_beside_the_model(tmp_path, linear):
    folder = tmp_path / "inside"
    folder.mkdir()
    path = folder / "model.onnx"
    onnx.save(linear, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    np.testing.assert_array_equal(from_onnx(path).parameters["w"].data, W)
    refused(path.read_bytes(), "values of 'w' are in the file 'w.bin' .* give the model's path")
    (folder / "w.bin").rename(tmp_path / "w.bin")
    refused(path, "values of 'w' should be in", FileNotFoundError)
    (folder / "w.bin").symlink_to(tmp_path / "w.bin")
    refused(path, "values of 'w': .*outside")
    (folder / "w.bin").unlink()
    (folder / "w.bin").write_bytes(b"short")
    refused(path, "values of 'w'")
    stored = onnx.load(path, load_external_data=False)
    for entry in stored.graph.initializer[0].external_data:
        if entry.key == "location":
            entry.value = "../w.bin"
    path.write_bytes(stored.SerializeToString())
    refused(path, "values of 'w': .*outside")
