"""The small examples run as they stand, in a folder of their own, and say what they should."""

import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from sklearn.datasets import load_iris

import pytensor
import pytensor.tensor
from pytensor.link.onnx import export_onnx
from pytensor.scalar.basic import Cast
from tests.examples.conftest import run_python

EXAMPLES = Path(__file__).parents[2] / "examples" / "onnx"
EXPECTED = {
    "attention": r"\d+ nodes",
    "bayesian_regression": r"mode near beta = \[ *1\.\d* +-1\.9\d* +0\.4\d*\]",
    "cnn": r"loss 0\.693 -> -?0\.0",
    "finetune_onnx": r"tuned.onnx: accuracy 0\.9",
    "likelihood_network": r"threshold +1\.[45]",
    "likelihood_onnx": r"threshold +1\.5",
    "lstm": r"\['Loop', 'Loop'\]",
    "mlp": r"9 nodes; rows sum to \[[10.9 ]+\]",
    "sklearn_gradients": r"d P\(class 1\) / d hue = 0\.7",
}
NEEDS = {
    "likelihood_network": "pymc",
    "likelihood_onnx": "pymc",
    "sklearn_gradients": "skl2onnx",
}


def test_every_example_is_here():
    assert sorted(EXPECTED) == sorted(path.stem for path in EXAMPLES.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    # The guide to networks in PyMC, below, does what the long ones do.
    [pytest.param(n, marks=[pytest.mark.long] * n.startswith("likelihood")) for n in EXPECTED],
)
def test_example(name, tmp_path):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"the example is about {NEEDS[name]}")
    warnings = "default" if name in NEEDS else "error"  # those libraries have warnings of their own
    result = run_python([EXAMPLES / f"{name}.py"], tmp_path, PYTHONWARNINGS=warnings)
    assert result.returncode == 0, result.stderr
    assert re.search(EXPECTED[name], result.stdout), result.stdout
    written = [*tmp_path.glob("*.onnx")]
    assert bool(written) == (name != "likelihood_network")
    for path in written:
        onnx.checker.check_model(path, full_check=True)


def fine_tune(folder, *arguments, code=0):
    """Run the example on ``d.npz`` in a folder; return what it prints, or why it fails."""
    command = [EXAMPLES / "finetune_onnx.py", *arguments, "--data", "d.npz"]
    done = run_python(command, folder)
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


@pytest.mark.slow
def test_fine_tuning_names_what_does_not_fit(tmp_path, monkeypatch):
    x = pytensor.tensor.tensor("x", shape=(1, 784), dtype="float32")
    weight = pytensor.shared(np.ones((784, 2), "float32"), name="weight", shape=(784, 2))
    export_onnx(x, x @ weight, tmp_path / "m.onnx")
    np.savez(tmp_path / "d.npz", x=np.zeros((9, 1, 28, 28)), y=np.zeros(9, int))

    def answer(*arguments):
        return fine_tune(tmp_path, *arguments, code=2).splitlines()[-1]

    shapes = "x in d.npz is (9, 1, 28, 28); the model's input is (1, 784)"
    assert answer("m.onnx").endswith(shapes)
    for y, problem in (
        (np.full(9, -1), "has classes outside of 0 to 1"),
        (np.zeros(9), "is (9,), the output (1, 2); classes are integers"),
        (np.zeros(8, int), "has 9 rows of x and 8 entries of y"),
        (np.full(9, "cat"), "give classes as integers from 0 on"),
    ):
        np.savez(tmp_path / "d.npz", x=np.zeros((9, 784)), y=y)
        assert answer("m.onnx").endswith(problem)
    for name in ("m.onnx", "d.npz"):
        (tmp_path / f"cut_{name}").write_bytes((tmp_path / name).read_bytes()[:40])
    assert "cut_m.onnx is no ONNX model, or a file that was cut off" in answer("cut_m.onnx")
    (tmp_path / "cut_d.npz").rename(tmp_path / "d.npz")
    assert "d.npz can't be read: File is not a zip file" in fine_tune(tmp_path, "m.onnx", code=2)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for slow in ("jax", "onnx", "pytensor"):
        (tmp_path / f"{slow}.py").write_text("raise SystemExit('imported before the answer')")
    assert answer("none.onnx").endswith("none.onnx does not exist")
    assert "--out no/m.onnx is a folder, or in one" in answer("m.onnx", "--out", "no/m.onnx")


CLASSIFIER = Path(__file__).parents[1] / "link/onnx/importing/networks/sklearn_mlp.onnx"


@pytest.mark.slow
def test_fine_tuning_a_classifier_of_scikit_learn(tmp_path):
    """Its first output are labels; the scores behind them are trained."""
    x, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "d.npz", x=x, y=(y + 1) % 3)
    listed = run_python([EXAMPLES / "finetune_onnx.py", CLASSIFIER], tmp_path).stdout.splitlines()
    assert {"Softmax: out_activations_result", "Identity: probabilities (?, 3)"} <= {*listed}
    printed = fine_tune(tmp_path, CLASSIFIER, "--last", "2")
    before, after = map(float, re.findall("accuracy (.*)", printed))
    assert before < 0.3  # the classes are numbered otherwise
    assert after > 0.6
    assert printed.endswith("tuned.onnx has the output probabilities and not label\n")
    for cut, why in (("label", "label gives no numbers of floating"), ("nothing", "no node of ")):
        assert why in fine_tune(tmp_path, CLASSIFIER, "--cut", cut, code=2)


@pytest.mark.slow
def test_fine_tuning_a_classifier_that_gives_dicts(tmp_path):
    """As skl2onnx writes by default; cut at a tensor whose shape the file doesn't tell."""
    model = onnx.load(CLASSIFIER)
    [place] = (k for k, v in enumerate(model.graph.output) if v.name == "probabilities")
    del model.graph.output[place]
    classes = {"classlabels_int64s": [0, 1, 2], "domain": "ai.onnx.ml"}
    model.graph.node.append(helper.make_node("ZipMap", ["probabilities"], ["dicts"], **classes))
    row = helper.make_map_type_proto(
        TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    )
    dicts = helper.make_value_info("dicts", helper.make_sequence_type_proto(row))
    model.graph.output.append(dicts)
    onnx.save(model, tmp_path / "m.onnx")
    x, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "d.npz", x=x, y=y)
    printed = fine_tune(tmp_path, "m.onnx", "--steps", "50")
    assert min(map(float, re.findall("accuracy (.*)", printed))) > 0.7
    fine_tune(tmp_path, "m.onnx", "--steps", "50", "--cut", "out_activations_result")


@pytest.mark.slow
def test_fine_tuning_a_file_of_one_row(tmp_path):
    """Its graph is applied to the rows of a batch, and what is written takes one again."""
    x = pytensor.tensor.tensor("x", shape=(1, 4), dtype="float32")
    weight = pytensor.shared(np.ones((4, 3), "float32"), name="weight", shape=(4, 3))
    export_onnx(x, pytensor.tensor.special.softmax(x @ weight, axis=1), tmp_path / "m.onnx")
    data, y = load_iris(return_X_y=True)
    np.savez(tmp_path / "d.npz", x=data, y=y)
    assert float(fine_tune(tmp_path, "m.onnx", "--steps", "900").split()[-1]) > 0.8
    [given] = onnx.load(tmp_path / "tuned.onnx").graph.input
    assert given.type.tensor_type.shape.dim[0].dim_value == 1


def nodes_of(graph):
    """Yield all nodes, also those within other nodes."""
    for node in graph.toposort():
        yield node
        for op in (node.op, getattr(node.op, "scalar_op", None)):
            if inner := getattr(op, "fgraph", None):
                yield from nodes_of(inner)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "integers"),
    [("JAX", "int32"), pytest.param("NUMBA", "int64", marks=pytest.mark.long)],
)
def test_density_of_a_network_casts_nothing(mode, integers, monkeypatch):
    pytest.importorskip("pymc", reason="the example is about PyMC")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from likelihood_network import observe, race
    from likelihood_onnx import make_network

    condition, times, choices = observe(np.random.default_rng(0), 20)
    # Of constants, PyTensor would take the smallest dtype.
    condition, choices = (pytensor.shared(v.astype(integers)) for v in (condition, choices))
    with pytensor.config.change_flags(floatX="float32"):
        model = race(make_network(8).frozen(), condition, times, choices)
        function = model.logp_dlogp_function(ravel_inputs=True, mode=mode)
    graph = function._pytensor_function.maker.fgraph
    assert [v.type.dtype for v in graph.outputs] == ["float32", "float32"]
    nodes = [*nodes_of(graph)]
    dtypes = {v.type.dtype for n in nodes for v in n.inputs + n.outputs if hasattr(v.type, "dtype")}
    assert "float32" in dtypes
    assert "float64" not in dtypes
    indexes = [n.inputs[1] for n in nodes if "AdvancedSubtensor" in type(n.op).__name__]
    assert {index.type.dtype for index in indexes} == {integers}
    assert [n for n in nodes if isinstance(getattr(n.op, "scalar_op", n.op), Cast)] == []


DEPLOY = EXAMPLES / "pymc_deploy"
DEPLOYED = ["hierarchical", "logistic", "hsgp", "state_space", "ordinal"]
# Compares the guide's model with PyMC, as the example does its own.
COMPARED = """
from models import Fitted, check
settings = {"unknown": ["groups"], "indexes": {"group": "groups"}}
unknown = {
    "new": {"group": np.zeros(3, "int32")}, "coords": {"groups": ["unknown"]}, "redrawn": ["start"]
}
new |= {"group": np.array([0, 2, 1], "int32")}
check("guide", Fitted(model, idata, new, ["mu"], ["y"], settings, unknown=unknown))
"""


def code_of(guide):
    """Return the blocks of a page in docs, which follow one another."""
    text = (EXAMPLES.parents[1] / f"docs/{guide}.md").read_text()
    block = r"```(?:python|\{code-cell\} ipython3)\n(?!:tags: \[skip-execution\])(.*?)```"
    return "\n".join(re.findall(block, text, re.DOTALL))


def run_deployed(arguments, folder):
    pytest.importorskip("pymc", reason="the example is about PyMC")
    result = run_python(arguments, folder, PYTHONWARNINGS="default")
    assert result.returncode == 0, result.stderr
    for path in folder.glob("*.onnx"):
        onnx.checker.check_model(path, full_check=True)
    return result.stdout


@pytest.mark.long
@pytest.mark.parametrize("name", DEPLOYED)
def test_deployed_model(name, tmp_path):
    printed = run_deployed([DEPLOY / "models.py", name], tmp_path)
    assert re.search(rf"{name}: without noise \d", printed), printed


@pytest.mark.long
def test_deploy_guide(tmp_path):
    code = code_of("pymc_deploy")
    code = f"import sys; sys.path.insert(0, {str(DEPLOY)!r})\n{code}{COMPARED}"
    printed = run_deployed(["-c", code], tmp_path)
    assert "(3,) (3, 3) (400, 3)" in printed
    assert '{"groups": ["red", "green", "blue", "unknown"]}' in printed
    assert re.search(r"guide: without noise \d", printed), printed


@pytest.mark.long
def test_network_guide(tmp_path):
    printed = run_deployed(["-c", code_of("pymc_network")], tmp_path)
    assert re.search(r"error: [1-4] %", printed), printed
    assert re.search(r"rates\[0\] +0\.4[3-7] .*\nrates\[1\] +0\.(09|1|11) ", printed), printed
