"""The benchmark of inference: what it counts, times and compares, on a detector of three layers."""

import json
import platform

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from benchmarks.onnx import inference as bench
from tests.examples.yolo11n.training.runs import write_data

pytest.importorskip("onnxruntime")
SIZE, CHANNELS = 32, 16
COLUMNS = ["MB", "nodes", "optimized", *bench.COUNTED]


def write_detector(path, seed=0, prefix="model.", size=SIZE, classes=("person", "cell phone")):
    """Write two convolutions with SiLU, a third one as head, 1 box for every 4x4 pixels."""
    rng = np.random.default_rng(seed)
    names = [f"{prefix}{n}.weight" for n in ("0.conv", "1.conv", "23.cv2.0.2")]
    shapes = [(CHANNELS, 3, 3, 3), (CHANNELS, CHANNELS, 3, 3), (6, CHANNELS, 1, 1)]
    arrays = [
        numpy_helper.from_array((rng.normal(size=s) / np.sqrt(np.prod(s[1:]))).astype("f4"), n)
        for n, s in zip(names, shapes, strict=True)
    ]
    nodes, value = [], "images"
    for k, name in enumerate(names[:2]):
        nodes += [
            helper.make_node("Conv", [value, name], [f"c{k}"], f"conv{k}", pads=[1] * 4,
                             strides=[2, 2]),
            helper.make_node("Sigmoid", [f"c{k}"], [f"s{k}"], f"sigmoid{k}"),
            helper.make_node("Mul", [f"c{k}", f"s{k}"], [f"m{k}"], f"mul{k}"),
        ]  # fmt: skip
        value = f"m{k}"
    arrays.append(numpy_helper.from_array(np.array([0, 6, -1]), "shape"))
    arrays.append(numpy_helper.from_array(np.array([20] * 4 + [1, 1], "f4")[:, None], "scale"))
    nodes += [
        helper.make_node("Conv", [value, names[2]], ["raw"], "head"),
        helper.make_node("Reshape", ["raw", "shape"], ["flat"], "flat"),
        helper.make_node("Sigmoid", ["flat"], ["fractions"], "fractions"),
        helper.make_node("Mul", ["fractions", "scale"], ["output0"], "decoded"),
    ]
    graph = helper.make_graph(
        nodes,
        "detector",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, size, size])],
        [helper.make_tensor_value_info("output0", TensorProto.FLOAT, [1, 6, (size // 4) ** 2])],
        arrays,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    helper.set_model_props(model, {"names": str(dict(enumerate(classes)))})
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("inference")


@pytest.fixture(scope="module")
def detector(folder):
    return write_detector(folder / "detector.onnx")


@pytest.fixture(scope="module")
def reference(folder):
    """Write the same layers with weights of its own, and other names for the classes."""
    return write_detector(folder / "reference.onnx", seed=1, classes=("a", "b"))


@pytest.fixture(scope="module")
def data(folder):
    return write_data(folder / "data")


def run(*arguments):
    return bench.main([*map(str, arguments), "--rounds", "2", "--calls", "2"])


def test_fusions_are_counted(detector):
    found = bench.describe(detector)
    assert found["nodes"] == 10
    assert found["bytes"] == detector.stat().st_size
    assert found["QuickGelu"] == 2
    assert found["NCHWc conv"] + found["other conv"] == 3
    assert found["int8 conv"] == found["int8 SiLU"] == found["casts"] == 0
    assert found["optimized nodes"] == 8 + found["reorders"]
    if platform.machine() in ("x86_64", "AMD64"):  # whose convolutions are in blocks
        assert found["NCHWc conv"] == 3
        assert found["reorders"] > 0


def test_the_reference_gets_the_model_s_weights(detector, reference, folder):
    same = bench.with_weights_of(onnx.load(reference), onnx.load(detector))
    onnx.save(same, folder / "same.onnx")
    assert bench.largest_difference(detector, folder / "same.onnx") == 0
    assert bench.largest_difference(detector, reference) > 0.01


def test_a_reference_of_other_weights_keeps_them(detector, folder):
    """Of other names or shapes, or in nodes; the numbers of the bins are no weights."""
    model = onnx.load(detector)
    bins = np.arange(16, dtype="f4").reshape(1, 16, 1, 1)

    def with_bins(values):
        reference = onnx.load(detector)
        reference.graph.initializer.append(numpy_helper.from_array(values, "bins"))
        reference.graph.node.append(helper.make_node("Conv", ["images", "bins"], ["expected"]))
        return bench.with_weights_of(reference, model)

    assert with_bins(bins) is not None
    assert with_bins(bins + 1) is None
    renamed = onnx.load(write_detector(folder / "other.onnx", prefix="other."))
    wide, nodes = onnx.load(detector), onnx.load(detector)
    kernel = wide.graph.initializer[0]
    kernel.CopyFrom(numpy_helper.from_array(np.ones((CHANNELS, 3, 5, 5), "f4"), kernel.name))
    for kernel in [a for a in nodes.graph.initializer if a.name.endswith("weight")]:
        nodes.graph.node.insert(0, helper.make_node("Constant", [], [kernel.name], value=kernel))
        nodes.graph.initializer.remove(kernel)
    for reference in (renamed, wide, nodes):
        assert bench.with_weights_of(reference, model) is None


def test_an_open_size_is_refused(detector, folder):
    model = onnx.load(detector)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
    onnx.save(model, folder / "open.onnx")
    with pytest.raises(SystemExit, match="fix its image size"):
        bench.sample(bench.open_session(folder / "open.onnx", 1))


def test_ratios_are_of_the_same_round(monkeypatch, detector):
    times = {bench.MODEL: [1.0, 2.0, 4.0], bench.REFERENCE: [2.0, 3.0, 4.0]}
    monkeypatch.setattr(bench, "time_blocks", lambda *arguments: (times, times))
    paths = dict.fromkeys(times, detector)
    found = bench.measure(paths, 1, bench.parse([str(detector)]))
    assert found[bench.REFERENCE]["ms"] == [2.5, 3, 3.5]
    assert found[bench.REFERENCE]["to model"] == [1.25, 1.5, 1.75]
    assert found[bench.MODEL]["to model"] == [1, 1, 1]
    assert bench.inverse([1.25, 1.6, 2]) == "0.625 (0.500 to 0.800)"


@pytest.mark.slow
def test_models_and_variants_in_one_table(detector, reference, data, folder, capsys):
    path = folder / "result.json"
    arguments = "--reference", reference, "--data", data, "--json", path, "--threads", "1"
    run(detector, *arguments, "--variants", "float16-weights", "int8")
    result = json.loads(path.read_text())
    rows = result["models"]
    names = [bench.MODEL, bench.REFERENCE, bench.SAME_WEIGHTS, "float16-weights", "int8"]
    assert list(rows) == names
    assert rows["int8"]["int8 conv"] == 2  # the last one stays in float
    assert rows["int8"]["int8 SiLU"] == 2
    assert rows["float16-weights"]["bytes"] < rows[bench.MODEL]["bytes"]
    for name, row in rows.items():
        assert row["threads"]["1"]["ms"][0] > 0
        assert ("map50_95" in row) == (name != bench.REFERENCE)
    for key in ("map50_95", "map50"):
        assert rows[bench.SAME_WEIGHTS][key] == rows[bench.MODEL][key]
    differences = result["largest_difference"]
    assert differences[bench.SAME_WEIGHTS] == 0
    assert 0 < differences["float16-weights"] < 0.05
    assert differences["float16-weights"] < differences["int8"] < 2  # of 20 pixels
    lines = capsys.readouterr().out.splitlines()
    header = next(line for line in lines if "QuickGelu" in line)
    last = [*COLUMNS, "ms, 1 thr.", "to model, 1 thr.", "mAP@0.5:0.95", "mAP@0.5"]
    assert [header.index(column) for column in last] == sorted(header.index(c) for c in last)
    table = lines[lines.index(header) :][: 1 + len(rows)]
    assert len({len(line) for line in table}) == 1
    assert any(line.startswith("ratio model to reference, 1 thread(s): ") for line in lines)


def test_a_reference_with_other_names(detector, folder, capsys):
    other = write_detector(folder / "foreign.onnx", prefix="other.")
    result = run(detector, "--reference", other, "--threads", "1", "2")
    assert list(result["models"]) == [bench.MODEL, bench.REFERENCE]
    assert list(result["models"][bench.REFERENCE]["threads"]) == [1, 2]
    assert "it is timed with its own" in capsys.readouterr().out


def test_a_reference_of_another_size_is_refused(detector, folder):
    larger = write_detector(folder / "larger.onnx", size=2 * SIZE)
    with pytest.raises(SystemExit, match="no such reference"):
        bench.largest_difference(detector, larger)
