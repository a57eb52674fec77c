"""`from_onnx`: names, trainable parameters, given inputs, and models that are damaged or lie."""

import os

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from scipy.special import softmax

import pytensor
import pytensor.tensor as pt
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import graph_inputs
from pytensor.link.onnx import ImportedOpError, from_onnx
from pytensor.link.onnx.importing import describe
from tests.link.onnx.importing.with_onnxruntime import in_pytensor, parsed
from tests.utils import REFERENCE_MODE

FLOAT = TensorProto.FLOAT
W = np.arange(6, dtype="float32").reshape(3, 2)


def model(nodes, initializers=(), inputs=(("x", FLOAT, ["N", 3]),), outputs=(("y", FLOAT, None),)):
    """Build a model of nodes (operator, inputs, outputs) and initializers (name, array)."""
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
    result = imported.outputs["y"].eval({x: value}, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(result, value @ W)


def test_an_imported_model_is_printed_without_its_values(linear):
    printed = repr(from_onnx(linear))
    assert "inputs={'x': Matrix(float32, shape=(?, 3))}" in printed
    assert "1 parameter)" in printed
    assert str(W[0, 0]) not in printed


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
    updates = {w: w - gradient}
    step = pytensor.function([imported.inputs["x"]], updates=updates, mode=REFERENCE_MODE)
    step(np.ones((1, 3), "float32"))
    np.testing.assert_array_equal(w.get_value(), W - 1)
    assert linear.graph.initializer[0].name == "w"
    np.testing.assert_array_equal(numpy_helper.to_array(linear.graph.initializer[0]), W)


@pytest.mark.parametrize(
    ("op_type", "inputs", "opset"),
    [("Resize", ["h", "", "scales"], 20), ("Upsample", ["h", "scales"], 9)],
)
def test_scales_of_images_are_not_learned(op_type, inputs, opset):
    """They are floats, but PyTensor must know them when the graph is made."""
    nodes = [("Mul", ["x", "w"], ["h"]), (op_type, inputs, ["y"])]
    values = [("w", np.ones(3, "float32")), ("scales", np.float32([1, 2]))]
    resized = model(nodes, values)
    resized.opset_import[0].version = opset
    parameters = from_onnx(resized, trainable=True).parameters
    assert isinstance(parameters["w"], SharedVariable)
    assert isinstance(parameters["scales"], Constant)


@pytest.mark.parametrize("training", [0, 1])
def test_running_statistics_are_learned_in_training_alone(training):
    names = ["scale", "bias", "mean", "var"]
    outputs = ["y", "new_mean", "new_var"] if training else ["y"]
    values = [(name, np.ones(3, "float32")) for name in names]
    normalized = model([("BatchNormalization", ["x", *names], outputs)], values)
    [node] = normalized.graph.node
    node.attribute.append(helper.make_attribute("training_mode", training))
    parameters = from_onnx(normalized, trainable=True).parameters
    shared = [name for name in names if isinstance(parameters[name], SharedVariable)]
    assert shared == (names if training else ["scale", "bias"])


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
    result = imported.outputs["y"].eval({z: value}, mode=REFERENCE_MODE)
    np.testing.assert_allclose(result, np.exp(value) @ W)
    with pytest.raises(TypeError, match="input 'x' is of dtype float32 and has 2 axes"):
        from_onnx(linear, {"x": pt.vector("v")})
    with pytest.raises(TypeError, match=r"shape \(None, 3\), .* \(None, 4\). To apply the"):
        from_onnx(linear, {"x": pt.tensor("v", shape=(None, 4), dtype="float32")})
    with pytest.raises(ValueError, match="inputs has 'a'; the model's inputs are 'x'"):
        from_onnx(linear, {"a": z})


# ------------------------------------------------------------------------------ bad input


def refused(broken, message, error=ValueError, **options):
    with pytest.raises(error, match=message):
        from_onnx(broken, **options)


def test_no_model_and_a_model_cut_off(tmp_path, linear):
    path = tmp_path / "model.onnx"
    data = linear.SerializeToString()
    for content in (data[: len(data) // 2], b"GIF89a not a model", b""):
        path.write_bytes(content)
        refused(path, "model.onnx")
    refused(tmp_path / "none.onnx", "none.onnx", FileNotFoundError)


def test_what_does_not_hang_together():
    chain = model([("Add", ["x", "b"], ["a"]), ("Neg", ["a"], ["b"]), ("Neg", ["b"], ["y"])])
    refused(chain, "cycle")
    refused(model([("Add", ["x", "w"], ["y"])]), "node Add reads 'w', which is no input")
    refused(model([("Neg", ["x"], ["z"])]), "no node makes output 'y'")
    twice = model([("Neg", ["x"], ["y"]), ("Exp", ["x"], ["y"])])
    refused(twice, "'y' belongs to a node Neg and to a node Exp")
    both = model([("MatMul", ["x", "w"], ["y"])], [("w", W), ("w", W)])
    refused(both, "'w' belongs to an initializer and to an initializer")


def test_operators_that_are_not_known():
    unknown = parsed("""(float[N, 3] x) => (float[N, 3] y)
        { a = Abs(x) b = org.example.Whatever(a) y = Whatever(b) }""", domains=', "org.example": 1')
    refused(unknown, r"1 x org.example.Whatever: there is no converter", ImportedOpError)
    two = model([("Whatever", ["x"], ["y"]), ("Another", ["x"], ["z"])])
    refused(two, r"(?s)2 node\(s\).*Whatever.*Another", ImportedOpError)


def test_models_that_lie_about_types():
    declared = ("h", TensorProto.INT64, ["N", 2])
    lie = model([("MatMul", ["x", "w"], ["h"]), ("Neg", ["h"], ["y"])], [("w", W)])
    lie.graph.value_info.append(helper.make_tensor_value_info(*declared))
    refused(lie, "says that 'h' is of dtype int64, and its inputs make it float32", ImportedOpError)
    wrong = model([("MatMul", ["x", "w"], ["y"])], [("w", np.ones((4, 2), "float32"))])
    refused(wrong, "MatMul", ImportedOpError)


def test_a_huge_constant_stays_a_formula():
    shape = np.array([1000, 2**40])
    huge = model([("ConstantOfShape", ["s"], ["c"]), ("Shape", ["c"], ["y"])], [("s", shape)])
    huge.graph.output[0].type.tensor_type.elem_type = TensorProto.INT64
    np.testing.assert_array_equal(from_onnx(huge).outputs["y"].data, shape)
    nodes = [("ConstantOfShape", ["s"], ["w"]), ("MatMul", ["x", "w"], ["y"])]
    y = from_onnx(model(nodes, [("s", np.array([3, 2**20]))])).outputs["y"]
    assert y.type.shape == (None, 2**20)
    assert all(v.data.size < 2**16 for v in graph_inputs([y]) if isinstance(v, Constant))


# ------------------------------------------------------------------------------ older models


def old_model():
    """Build a model whose axes are an attribute, and Dropout has no mode, as before opset 13."""
    return parsed("""(float[N, 3] x) => (float[N] y)
        { s = ReduceSum<axes = [1], keepdims = 0>(x) y = Dropout(s) }""", 11)


@pytest.mark.parametrize("opset", [None, 17])
def test_older_models_are_read_as_they_are(opset):
    imported = from_onnx(old_model(), opset=opset)
    value = np.arange(6, dtype="float32").reshape(2, 3)
    result = imported.outputs["y"].eval({imported.inputs["x"]: value}, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(result, value.sum(1))


def test_the_command_line_says_what_a_model_has(tmp_path, capsys):
    path = tmp_path / "old.onnx"
    onnx.save(old_model(), path)
    assert describe.main([str(path)]) == 0
    printed = capsys.readouterr().out
    for line in ("ai.onnx 11\n", "inputs:\n  x: FLOAT [N,3]\n", "1 ReduceSum", "can import it."):
        assert line in printed


def test_the_command_line_names_the_other_command(capsys):
    with pytest.raises(SystemExit):
        describe.main(["--help"])
    assert "python -m pytensor.link.onnx compare --help" in capsys.readouterr().out


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_functions_of_another_opset_than_the_model(domain):
    """Softmax was of all axes from the first on before opset 13; skl2onnx writes such models."""
    text = """
        <ir_version: 9, opset_import: ["": 22, "own": 1]>
        net (float[N, 3, 2] x) => (float[N, 3, 2] old, float[N, 3, 2] twice, float[N, 3, 2] new)
        {{ old = own.share(x) twice = own.of_both(x) new = Softmax<axis = 1>(x) }}
        <domain: "own", opset_import: ["{domain}": {opset}]>
        share (a) => (b) {{ b = Softmax<axis = 1>(a) }}
        <domain: "own", opset_import: ["": 13, "own": 1, "ai.onnx.ml": 3]>
        of_both (a) => (c) {{ b = own.share(a) c = Softmax<axis = 1>(b) }}
    """
    network = onnx.parser.parse_model(text.format(opset=12, domain=domain))
    value = np.random.default_rng(0).normal(size=(2, 3, 2)).astype("float32")
    results = in_pytensor(network, [value])
    old = softmax(value.reshape(2, -1), axis=1).reshape(value.shape)
    wanted = old, softmax(old, axis=1), softmax(value, axis=1)
    for result, expected in zip(results, wanted, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6)
    unknown = onnx.parser.parse_model(text.format(opset=99, domain=domain))
    refused(unknown, "function 'share' is of opset 99")


def test_opsets_that_are_not_known(linear):
    for opset in (0, 99):
        with pytest.raises(ValueError, match=rf"opset={opset}; 1 to"):
            from_onnx(linear, opset=opset)
    linear.opset_import[0].version = 99
    refused(linear, "of opset 99; 1 to .*: a newer onnx package may know it")
    del linear.opset_import[:]
    refused(linear, "doesn't say of which opset it is")


def sparse(indices, values=(3, 4), dims=(3, 2)):
    values = helper.make_tensor("w", FLOAT, [len(values)], values)
    shape = np.shape(indices)
    indices = helper.make_tensor("i", TensorProto.INT64, shape, np.ravel(indices))
    return helper.make_sparse_tensor(values, indices, dims)


@pytest.mark.parametrize("indices", [[0, 3], [[0, 0], [1, 1]]])
def test_sparse_initializers(indices):
    network = model([("MatMul", ["x", "w"], ["y"])])
    network.graph.sparse_initializer.append(sparse(indices))
    imported = from_onnx(network, trainable=True)
    w = imported.parameters["w"].get_value()
    np.testing.assert_array_equal(w, np.float32([[3, 0], [0, 4], [0, 0]]))
    assert len(network.graph.sparse_initializer) == 1  # the model given stays as it was


def test_a_sparse_constant():
    network = model([("Constant", [], ["w"]), ("MatMul", ["x", "w"], ["y"])])
    value = helper.make_attribute("sparse_value", sparse([0, 3]))
    network.graph.node[0].attribute.append(value)
    imported = from_onnx(network)
    x = {imported.inputs["x"]: np.eye(3, dtype="float32")}
    y = imported.outputs["y"].eval(x, mode=REFERENCE_MODE)
    np.testing.assert_array_equal(y, np.float32([[3, 0], [0, 4], [0, 0]]))


def products_in_branches():
    """Return a model of an If, whose branches are products of "x" and "x"."""
    return parsed("""(bool c, float[N, 3] x) => (float[N, 2] y) { y = If(c) <
        then_branch = t () => (float[N, 2] a) { a = MatMul(x, x) },
        else_branch = e () => (float[N, 2] b) { b = MatMul(x, x) }> }""")


def test_a_sparse_initializer_in_a_body():
    network = products_in_branches()
    for attribute in network.graph.node[0].attribute:
        attribute.g.sparse_initializer.append(sparse([0, 3]))
        attribute.g.node[0].input[1] = "w"
    (y,) = in_pytensor(network, [np.True_, np.float32([[1, 10, 100]])])
    np.testing.assert_array_equal(y, [[3, 40]])


@pytest.mark.parametrize(
    ("indices", "reason"),
    [
        ([0, 6], "index 6 is out of bounds"),
        ([-1, 3], "an index is negative"),
        ([[0, 0], [3, 0]], "invalid entry"),
        ([0, 1, 2], "it has 2 values and 3 places"),
        ([[0, 0], [1, 1], [2, 0]], "it has 2 values and 3 places"),
    ],
)
def test_sparse_initializers_that_are_damaged(indices, reason):
    network = model([("MatMul", ["x", "w"], ["y"])])
    network.graph.sparse_initializer.append(sparse(indices))
    refused(network, f"the sparse initializer 'w': .*{reason}")


def test_an_attribute_that_the_operator_does_not_have(linear):
    linear.graph.node[0].attribute.append(helper.make_attribute("transB", 1))
    refused(linear, "MatMul: the operator has no attribute 'transB' in ai.onnx 20", ImportedOpError)


def test_an_attribute_of_a_later_opset():
    """As where the onnx package is older than the file: the operator's newest schema is asked."""
    for node, where in (
        ("Shrink", "ai.onnx 20"), ("com.microsoft.QuickGelu", "com.microsoft 1")
    ):  # fmt: skip
        text = f"(float[3] x) => (float[3] y) {{ y = {node}<of_the_future = 1>(x) }}"
        network = parsed(text, domains=', "com.microsoft": 1')
        refused(network, f"no attribute 'of_the_future' in {where}", ImportedOpError)


def test_an_output_that_no_converter_makes(linear):
    linear.graph.node[0].output[0] = "h"
    linear.graph.node[0].output.append("y")
    refused(linear, "its output 'y', number 2, can't be imported", ImportedOpError)


@pytest.mark.parametrize("name", ["", "mean"])
def test_an_output_without_a_name_is_left_out(name):
    vectors = [(each, np.ones(3, "float32")) for each in "abcd"]
    file = model([("BatchNormalization", ["x", *"abcd"], ["y", name])], vectors)
    file.opset_import[0].version = 13
    if name:
        with pytest.raises(ImportedOpError, match="more than one output, so it trains"):
            from_onnx(file)
    else:
        assert list(from_onnx(file).outputs) == ["y"]


def test_operators_that_are_functions_of_the_standard():
    text = "(float[2] x, float[2] z) => (float[2] y) { y = SwiGLU(x, z) }"
    swiglu = parsed(text, onnx.defs.onnx_opset_version())
    assert from_onnx(swiglu).outputs["y"].type.dtype == "float32"


# ------------------------------------------------------------------------------ external data


def external(location, name="w", dims=(3, 2)):
    """Return a tensor whose values are in a file."""
    tensor = TensorProto(name=name, dims=dims, data_type=FLOAT, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=os.fspath(location))
    return tensor


def refused_outside(network, folder, message):
    """Check that a file in a folder is refused, whose values are in the folder above."""
    (folder / "inside").mkdir(exist_ok=True)
    (folder / "w.bin").write_bytes(W.tobytes())
    path = folder / "inside" / "model.onnx"
    path.write_bytes(network.SerializeToString())
    refused(path, f"{message}: .*outside")


@pytest.mark.parametrize("where", ["parent", "absolute", "link to a file", "link to a folder"])
def test_no_path_leaves_the_folder(tmp_path, where):
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link.bin").symlink_to(tmp_path / "w.bin")
    (inside / "link").symlink_to(tmp_path)
    location = {
        "parent": "../w.bin",
        "absolute": tmp_path / "w.bin",
        "link to a file": "link.bin",
        "link to a folder": "link/w.bin",
    }[where]
    network = model([("MatMul", ["x", "w"], ["y"])])
    network.graph.initializer.append(external(location))
    refused_outside(network, tmp_path, "values of 'w'")


def test_a_body_reads_no_file_outside(tmp_path):
    network = products_in_branches()
    body = network.graph.node[0].attribute[0].g
    body.node[0].input[1] = "w"
    body.initializer.append(external("../w.bin"))
    refused_outside(network, tmp_path, "values of 'w'")


def test_a_constant_reads_no_file_outside(tmp_path):
    network = model([("Constant", [], ["w"]), ("MatMul", ["x", "w"], ["y"])])
    value = helper.make_attribute("value", external("../w.bin", name=""))
    network.graph.node[0].attribute.append(value)
    refused_outside(network, tmp_path, "values of 'value' of the node of 'w'")


def test_two_gigabytes_without_their_file(tmp_path):
    network = model([("MatMul", ["x", "w"], ["y"])])
    network.graph.initializer.append(external("w.bin", dims=(3, 2**29)))
    path = tmp_path / "large.onnx"
    path.write_bytes(network.SerializeToString())
    refused(path, "values of 'w' should be in .*w.bin", FileNotFoundError)
    (tmp_path / "w.bin").write_bytes(b"too short")
    refused(path, "values of 'w'")


def test_values_in_files_beside_the_model(tmp_path, linear):
    folder = tmp_path / "inside"
    folder.mkdir()
    path = folder / "model.onnx"
    onnx.save(linear, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    np.testing.assert_array_equal(from_onnx(path).parameters["w"].data, W)
    refused(path.read_bytes(), "values of 'w' are in the file 'w.bin' .* give the model's path")
    (folder / "w.bin").rename(tmp_path / "w.bin")
    refused(path, "values of 'w' should be in", FileNotFoundError)
    (folder / "w.bin").write_bytes(b"short")
    refused(path, "values of 'w'")
