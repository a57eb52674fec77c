"""`compare_runtimes`, its command, its inputs, and the bounds of nodes."""

import doctest
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

from pytensor.link.onnx.compare import ComparisonError, command, compare_runtimes, report
from pytensor.link.onnx.compare.base import RuntimeFailure
from pytensor.link.onnx.compare.exact import ExactNodes
from pytensor.link.onnx.compare.expected import Expected, difference
from pytensor.link.onnx.compare.graph import Model
from pytensor.link.onnx.compare.inputs import edge_cases, ordinary_cases, random
from pytensor.link.onnx.compare.runtimes import open_runtimes

TEXT = """
<ir_version: 9, opset_import: ["": 18]>
net (float[N, 4] x, float[4] w) => (float[N, 4] y) {
  scaled = Mul(x, w)
  kept = Relu(scaled)
  grown = Exp(kept)
  y = Sqrt(grown)
}
"""
# Runs a model as onnxruntime does, but multiplies what Exp makes by a factor
PROGRAM = """
import sys
import numpy as np, onnx, onnxruntime
from onnx import helper, numpy_helper
model = onnx.load(sys.argv[1])
for i, node in enumerate(model.graph.node):
    if node.op_type == "Exp":
        name, node.output[0] = node.output[0], "before"
        model.graph.node.insert(i + 1, helper.make_node("Mul", ["before", "factor"], [name]))
        model.graph.initializer.append(numpy_helper.from_array(np.float32(1.001), "factor"))
        break
session = onnxruntime.InferenceSession(model.SerializeToString())
names = [v.name for v in session.get_outputs()]
with np.load(sys.argv[2]) as inputs:
    results = session.run(None, dict(inputs))
np.savez(sys.argv[3], **dict(zip(names, results)))
"""


@pytest.fixture
def model():
    return parser.parse_model(TEXT)


def test_docstring_example():
    assert doctest.testmod(report).failed == 0


@pytest.mark.slow
def test_the_command(tmp_path, model, capsys):
    onnx.save(model, tmp_path / "net.onnx")
    (tmp_path / "wrong.py").write_text(PROGRAM)
    np.savez(
        tmp_path / "in.npz", x=np.ones((3, 4), "float32"), w=np.array([1, 2, 3, -4], "float32")
    )
    program = f"{sys.executable} {tmp_path / 'wrong.py'}"
    files = [str(tmp_path / "net.onnx"), str(tmp_path / "in.npz")]
    assert command.main([*files, "--runtimes", "ort", "ort-off", "reference"]) == 0
    assert capsys.readouterr().out.count("in.npz                   right; uses") == 3
    assert command.main([*files, "--runtimes", "ort", program]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "first wrong node: Exp 'grown': error" in lines[1]
    assert "; in 100.0% of the elements; 1 nodes depend on it, and 'y'" in lines[1]
    [folder] = (tmp_path / "net-differs").iterdir()
    assert str(folder) in lines[2]
    small = onnx.load(folder / "model.onnx")
    assert [node.op_type for node in small.graph.node] == ["Exp"]
    script = (folder / "show.py").read_text()
    assert len(script.splitlines()) <= 11
    said = subprocess.run(
        [sys.executable, "show.py"], cwd=folder, check=True, capture_output=True, text=True
    )
    assert "grown error" in said.stdout
    assert "elements 12" in said.stdout


def test_the_untouched_model_is_run_first(model):
    asked = []

    def runtime(proto, inputs):
        asked.append(len(proto.graph.output))
        return open_runtimes(["ort-off"])[0].run(proto, inputs)

    [one] = compare_runtimes(model, runtimes=[runtime])
    assert not one.wrong
    assert one.used < 1
    assert asked == [1]


def test_what_rounding_may_do_depends_on_the_inputs():
    """A sum of large terms that cancel may be off by more than one of small ones."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    nodes = ExactNodes({"": 18})
    x = np.array([[1, 1, 1e6, -1e6]], "float32")
    [one] = nodes.judge(node, [x, np.ones((4, 1), "float32")])
    [other] = nodes.judge(node, [x / 1e6, np.ones((4, 1), "float32")])
    assert one.value.dtype == np.float64
    assert one.value == 2
    assert 1e-2 < one.bound < 10
    assert other.bound < 1e-5 * one.bound


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_values_are_rounded_once(dtype):
    node = helper.make_node("Exp", ["x"], ["y"])
    x = np.linspace(-3, 3, 7).astype(dtype)
    [one] = ExactNodes({"": 18}).judge(node, [x])
    assert one.dtype == dtype
    np.testing.assert_array_equal(one.value, np.exp(x.astype("float64")))
    assert (one.bound >= np.spacing(np.exp(x)) / 2).all()


def test_differences():
    value, none = np.array([1.0, np.inf, np.nan, 1e39]), np.zeros(4)
    right = np.array([1, np.inf, np.nan, np.inf], "float32")
    assert difference(right, value, none, "float32") is None
    cut = np.array([1, np.finfo("float32").max, np.nan, np.inf], "float32")
    assert difference(cut, value, none, "float32").share == 0.25
    assert "float64[4] instead of float32[4]" in str(difference(value, value, none, "float32"))
    large = np.array([2**62 + 1])
    assert difference(large, large - 1, np.zeros(1), "int64") is not None


def test_a_comparison_near_its_limit_may_flip():
    """Which side of a limit a number is on isn't said where rounding decides it."""
    text = TEXT.replace("y = Sqrt(grown)", "s = Sqrt(grown) y = Floor(s)")
    proto = parser.parse_model(text)
    x = np.full((1, 4), np.log(4), "float32")  # of which the root of exp is about 2
    expected = Expected(Model(proto), {"x": x, "w": np.ones(4, "float32")})
    for result in (1, 2):
        assert expected.check("y", np.full((1, 4), result, "float32")) is None
    assert expected.check("y", np.full((1, 4), 5, "float32")) is not None


def test_inputs_fit_the_declaration(model):
    read = Model(model)
    drawn = random(read, 3, {"N": 5})
    assert drawn["x"].shape == (5, 4)
    assert drawn["x"].dtype == np.float32
    np.testing.assert_array_equal(drawn["x"], random(read, 3, {"N": 5})["x"])
    cases = {case.name.partition(",")[0]: case.inputs["x"] for case in edge_cases(read, 0, {})}
    assert cases["open axes of length 0"].shape == (0, 4)
    assert (np.abs(cases["denormals"]) < np.finfo("float32").tiny).all()
    assert not cases["zeros"].any()


def test_test_data_beside_a_model_is_read(tmp_path, model):
    onnx.save(model, tmp_path / "net.onnx")
    folder = tmp_path / "test_data_set_0"
    folder.mkdir()
    values = [np.ones((2, 4), "float32"), np.ones(4, "float32")]
    onnx.save_tensor(numpy_helper.from_array(values[0]), folder / "input_0.pb")
    with pytest.raises(ComparisonError, match=r"lacks input_1.pb, the input 'w'"):
        ordinary_cases(Model(model), tmp_path / "net.onnx", 0, {})
    onnx.save_tensor(numpy_helper.from_array(values[1]), folder / "input_1.pb")
    [case] = ordinary_cases(Model(model), tmp_path / "net.onnx", 0, {})
    assert case.name == "test_data_set_0"
    np.testing.assert_array_equal(case.inputs["x"], values[0])


@pytest.mark.slow
def test_edge_values():
    """Neither level is wrong, and a runtime that makes subnormal numbers zero is."""

    def flushing(proto, inputs):
        small = {k: np.where(np.abs(x) < 1e-37, 0, x).astype(x.dtype) for k, x in inputs.items()}
        return open_runtimes(["ort-off"])[0].run(proto, small)

    text = TEXT.replace("y = Sqrt(grown)", "y = Neg(kept)")
    found = compare_runtimes(parser.parse_model(text), runtimes=["ort", flushing], edges=True)
    wrong = {(one.runtime, one.case.partition(",")[0]): one.node for one in found if one.wrong}
    assert wrong == {("flushing", "denormals"): "Mul 'scaled'"}


def test_what_cannot_be_compared_is_said(tmp_path, model, capsys):
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.raises(ComparisonError, match="web-wasm needs the folder of onnxruntime-web"):
        compare_runtimes(model, runtimes=["web-wasm"])
    with pytest.raises(ComparisonError, match=r"the inputs are \['z'\], the model's \['w', 'x'\]"):
        compare_runtimes(model, {"z": 1})
    draws = parser.parse_model(TEXT.replace("Exp(kept)", "RandomNormalLike(kept)"))
    with pytest.raises(ComparisonError, match="RandomNormalLike 'grown' draws random numbers"):
        compare_runtimes(draws)
    assert command.main([str(tmp_path / "net.onnx"), "--sizes", "N"]) == 1
    assert capsys.readouterr().err == "error: --sizes N: write NAME=N, as batch=1\n"
    (tmp_path / "cut.onnx").write_bytes(model.SerializeToString()[:40])
    assert command.main([str(tmp_path / "cut.onnx")]) == 1
    assert "cut.onnx: no ONNX model, or a file that was cut off" in capsys.readouterr().err
    assert command.main([str(tmp_path / "net.onnx"), "--runtimes", "no-such-program"]) == 1
    assert "doesn't run: no-such-program: No such file" in capsys.readouterr().out


def test_a_program_that_writes_nothing_is_refused(model):
    [program] = open_runtimes([f"{sys.executable} -c pass"])
    with pytest.raises(RuntimeFailure, match="wrote no outputs"):
        program.run(model, {"x": np.ones((1, 4), "float32")})


SEQUENCES = {
    "inside": """(float[4, 3] x) => (float[1, 3] y) { e = Exp(x) s = SplitToSequence<axis = 0>(e)
        k = Constant<value_int = 2>() p = SequenceAt(s, k) n = SequenceLength(s)
        f = CastLike(n, x) y = Mul(p, f) }""",
    "and back": """(float[4, 3] x) => (float[5, 3] y) { s = SplitToSequence<axis = 0>(x)
        k = Constant<value_int = 2>() p = SequenceAt(s, k) q = Exp(p) t = SequenceInsert(s, q)
        y = ConcatFromSequence<axis = 0>(t) }""",
    "an output": """(float[2] x) => (seq(float[2]) s)
        { y = Exp(x) s = SequenceConstruct(x, y) }""",
}


@pytest.mark.parametrize("case", SEQUENCES)
def test_sequences(case):
    """Nodes between which sequences go are judged as one, and what lies in an output as well."""
    text = f'<ir_version: 9, opset_import: ["": 18]> g {SEQUENCES[case]}'
    proto = parser.parse_model(text)
    (right,) = compare_runtimes(proto, runtimes=["ort-off"])
    assert not right.wrong
    [ort] = open_runtimes(["ort-off"])

    def wrong(model, inputs):
        found = ort.run(model, inputs)
        return found | {"y": found["y"] * np.float32(1.01)} if "y" in found else found

    (report,) = compare_runtimes(proto, runtimes=[wrong])
    assert report.wrong
    assert report.outputs == ["y"]


def test_zipmap():
    proto = parser.parse_model("""<ir_version: 9, opset_import: ["": 18, "ai.onnx.ml": 3]>
        g (float[N, 2] x) => (seq(map(int64, float)) z)
        { p = Softmax(x) z = ai.onnx.ml.ZipMap<classlabels_int64s = [0, 1]>(p) }""")
    (found,) = compare_runtimes(proto, runtimes=["ort-off"])
    assert not found.wrong
    assert 0 < found.used < 1


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        (np.ones((2, 4)), "'x' is of dtype float64"),
        (np.ones((2, 3), "float32"), "'x' has the shape"),
    ],
)
def test_inputs_that_do_not_fit(model, wrong, match):
    """The error names the input, not the node that reads it."""
    with pytest.raises(ComparisonError, match=match):
        compare_runtimes(model, {"x": wrong, "w": np.ones(4, "float32")}, ["ort-off"])


@pytest.mark.parametrize("seed", [6, 10, 17])
def test_rounding_of_attention_with_large_scores(seed):
    rng = np.random.default_rng(seed)
    feed = {k: (rng.normal(size=(1, 64, 64)) * 20).astype("float32") for k in "qkv"}
    proto = parser.parse_model("""<ir_version: 10, opset_import: ["": 23]>
        g (float[1, 64, 64] q, float[1, 64, 64] k, float[1, 64, 64] v) => (float[A, B, C] y)
        { y = Attention<q_num_heads = 2, kv_num_heads = 2>(q, k, v) }""")
    (found,) = compare_runtimes(proto, feed, ["ort-off"])
    assert not found.wrong
