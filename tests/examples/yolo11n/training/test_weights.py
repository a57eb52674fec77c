"""Weights of other, or more, classes: what is taken, what is left, and what that computes."""

import ast
import json
from functools import partial
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
from export import export_detector
from export import main as export_main
from model import BACKBONE, YOLO11n
from safetensors.numpy import save_file
from tools import half_weights
from training.checkpoint import CheckpointError, save_weights
from training.weights import (
    CLASS_ROWS,
    COCO_CLASSES,
    kept_classes,
    load_model,
    load_pretrained,
    model_info,
    starting_model,
)

from tests.examples import yolo11n_golden as golden

PAIR = ["person", "cell phone"]
CUT_BIAS = "model.23.cv3.0.2.bias"


@pytest.fixture(scope="module")
def coco_state():
    """Return a model of 80 classes as the reference's state dict has it, with batch counters."""
    state = {k: golden.weight(k, v.shape) for k, v in YOLO11n(80).state_dict().items()}
    counters = {
        name.replace("running_mean", "num_batches_tracked"): np.int64(7)
        for name in state
        if name.endswith("running_mean")
    }
    return state | counters


@pytest.fixture
def coco_file(coco_state, tmp_path):
    path = tmp_path / "coco.safetensors"
    save_file({k: np.asarray(v) for k, v in coco_state.items()}, path)
    return path


def detect(model, classes, folder, images):
    path = folder / f"{len(classes)}.onnx"
    export_detector(model, path, classes, images.shape[-1], batch_size=len(images))
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"images": images})[0]


@pytest.mark.slow
def test_cut_head_computes_the_rows_of_the_full_one(coco_file, tmp_path):
    full, _, _ = load_pretrained(coco_file)
    cut, rows, _ = load_pretrained(coco_file, PAIR)
    assert rows == {"person": 0, "cell phone": 67}
    assert (cut.num_classes, cut.class_width) == (2, 80)
    images = golden.images(2, 64)
    whole = detect(full, COCO_CLASSES, tmp_path, images)
    part = detect(cut, PAIR, tmp_path, images)
    np.testing.assert_allclose(part, whole[:, [0, 1, 2, 3, 4, 71]], rtol=1e-5, atol=1e-6)


def test_new_class_keeps_all_else(coco_file, coco_state):
    """The order of the classes is the caller's."""
    model, rows, _ = load_pretrained(coco_file, ["helmet", "person"], seed=3)
    assert [*rows.items()] == [("helmet", None), ("person", 0)]
    state, fresh = model.state_dict(), YOLO11n(2, seed=3, class_width=80).state_dict()
    for name, value in state.items():
        if name in CLASS_ROWS:
            np.testing.assert_array_equal(value[0], fresh[name][0])
            np.testing.assert_array_equal(value[1], coco_state[name][0])
        else:
            np.testing.assert_array_equal(value, coco_state[name])


def test_names_in_the_metadata(tmp_path):
    state = YOLO11n(3).state_dict()
    for names in (["cat", "person", "dog"], {"0": "cat", "1": "person", "2": "dog"}):
        save_weights(tmp_path / "own.safetensors", state, {"classes": names})
        model, rows, _ = load_pretrained(tmp_path / "own.safetensors", ["person"])
        assert rows == {"person": 1}
        np.testing.assert_array_equal(model.state_dict()[CUT_BIAS], state[CUT_BIAS][1:2])


def start(path, classes, last=None, **given):
    """Return the model that a run starts with, and what it will have seen."""
    own = {"resume": False, "seed": 0, "trained_on": None, "size": None, "freeze": False}
    own |= {"weights": path, "classes": classes} | given
    return starting_model(SimpleNamespace(**own), last, None)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Person", "'person'"), ("phone", "'cell phone'"), ("cell_phones", "'cell phone'"),
     ("persn", "'person'"), ("people", "'person'"), ("laptop", None)],
)  # fmt: skip
def test_a_class_that_is_called_otherwise_is_named(tmp_path, capsys, name, meant):
    path = tmp_path / "own.safetensors"
    save_weights(path, YOLO11n(2).state_dict(), {"classes": PAIR})
    start(path, [name])
    said = capsys.readouterr().out
    assert f"{name} (from random weights)" in said
    if meant is None:
        assert "did you mean" not in said
    else:
        assert f"warning: {name} (did you mean {meant}?) The row of a class" in said
        with pytest.raises(CheckpointError, match=rf"no class {name} \(did you mean {meant}\?\)"):
            load_model(path, [name])


def test_classes_that_are_kept(tmp_path):
    path = tmp_path / "own.safetensors"
    save_weights(path, YOLO11n(2).state_dict(), {"classes": PAIR, "image_size": 320})
    options = SimpleNamespace(keep_classes=True, weights=path, resume=False)
    assert kept_classes(options, tmp_path / "last") == (PAIR, 320)
    three = {"classes": [*PAIR, "lamp"], "kept": PAIR, "image_size": 320}
    save_weights(path, YOLO11n(3).state_dict(), three)
    assert kept_classes(options, tmp_path / "last") == (three["classes"], 320)
    options = SimpleNamespace(keep_classes=True, weights=None, resume=True)
    assert kept_classes(options, path) == (PAIR, 320)
    assert kept_classes(SimpleNamespace(keep_classes=False), None) == ([], 0)
    save_weights(path, YOLO11n(2).state_dict(), {})
    with pytest.raises(CheckpointError, match="doesn't name its 2 classes, so none can be kept"):
        kept_classes(options, path)


@pytest.mark.slow
def test_weights_of_another_size(tmp_path):
    path, model = tmp_path / "s.safetensors", YOLO11n(2, seed=4, size="s")
    info = model_info(model, PAIR, 64, None)
    assert (info["architecture"], info["size"]) == ("yolo11s", "s")
    save_weights(path, model.state_dict(), info)
    again, _ = start(path, ["person"], freeze=True)
    assert (again.size, again.kept) == ("s", BACKBONE)
    with pytest.raises(CheckpointError, match="weights of a YOLO11s, not of size n: --size s"):
        start(path, PAIR, size="n")
    np.testing.assert_array_equal(again.state_dict()[CUT_BIAS], model.state_dict()[CUT_BIAS][:1])


@pytest.mark.long
@pytest.mark.parametrize("size", ["m", "l"])
def test_onnx_file_of_another_size(size, tmp_path):
    """Of trained-looking statistics: the predictions are the file's."""
    model = YOLO11n(2, seed=4, size=size)
    golden.load_golden_weights(model)
    images = golden.images(1, 64)
    expected = detect(model, PAIR, tmp_path, images)
    again, rows, _ = load_pretrained(tmp_path / "2.onnx")
    assert (again.size, rows) == (size, {"person": 0, "cell phone": 1})
    (tmp_path / "again").mkdir()
    np.testing.assert_allclose(detect(again, PAIR, tmp_path / "again", images), expected, atol=1e-3)


def test_unnamed_classes(tmp_path):
    path = tmp_path / "unnamed.safetensors"
    save_weights(path, YOLO11n(2).state_dict(), {})
    assert load_pretrained(path, ["cat", "dog"])[1] == {"cat": 0, "dog": 1}
    assert set(load_pretrained(path, ["cat", "dog", "cow"])[1].values()) == {None}


def test_checkpoint_gives_its_averages(tmp_path):
    state = YOLO11n(2).state_dict()
    averages = {f"state.{name}.ema": value + 1 for name, value in state.items()}
    save_weights(tmp_path / "last.safetensors", state | averages, {"classes": PAIR})
    model, _, _ = load_pretrained(tmp_path / "last.safetensors")
    np.testing.assert_array_equal(model.state_dict()[CUT_BIAS], state[CUT_BIAS] + 1)


@pytest.mark.parametrize(
    ("change", "names", "message"),
    [
        (lambda s: s | {"model.0.conv.bias": np.zeros(16)}, PAIR, "batch normalization is folded"),
        (lambda s: {"weight": np.zeros(3)}, PAIR, "no YOLO11n under the names"),
        (lambda s: {k: s[k] for k in CLASS_ROWS}, PAIR, "arrays are missing or of another shape"),
        # An export would write them without a word.
        (
            lambda s: s | {CUT_BIAS: np.float32([0, np.nan])},
            PAIR,
            f"{CUT_BIAS} and 0 other arrays are not finite",
        ),
        (dict, None, "doesn't name its 2 classes; name them"),
        (dict, ["cat"], "names 1 classes, but its head has 2 rows"),
    ],
)
def test_files_that_are_refused(tmp_path, change, names, message):
    path = tmp_path / "other.safetensors"
    state = {k: np.asarray(v) for k, v in change(YOLO11n(2).state_dict()).items()}
    save_file(state, path, {"info": json.dumps({"classes": names} if names else {})})
    with pytest.raises(CheckpointError, match=message):
        load_pretrained(path)


@pytest.mark.slow
def test_onnx_file(finder_onnx_of_one, tmp_path):
    """Of names that say nothing, one normalization not folded: its predictions are kept."""
    graph = (proto := onnx.load(finder_onnx_of_one)).graph
    for number, tensor in enumerate(graph.initializer):
        for node in graph.node:
            node.input[:] = [str(number) if v == tensor.name else v for v in node.input]
        tensor.name = str(number)
    position, conv = next((k, n) for k, n in enumerate(graph.node) if n.op_type == "Conv")
    values = np.random.default_rng(0).uniform(0.5, 2, (4, 16)).astype(np.float32)
    names = ["conv", "gamma", "beta", "mean", "variance"]
    graph.initializer.extend(map(onnx.numpy_helper.from_array, values, names[1:]))
    normalize = onnx.helper.make_node("BatchNormalization", names, conv.output, epsilon=0.1)
    graph.node.insert(position + 1, normalize)
    conv.output[0] = "conv"
    path = tmp_path / "other.onnx"
    onnx.save(proto, path)
    model, rows, info = load_pretrained(path)
    assert (rows, info["image_size"]) == ({"person": 0, "cell phone": 1}, 64)
    images = golden.images(1, 64)
    [expected] = onnxruntime.InferenceSession(path).run(None, {"images": images})
    np.testing.assert_allclose(detect(model, PAIR, tmp_path, images), expected, atol=1e-4)
    del conv.input[2], graph.node[position + 1]
    conv.output[0] = normalize.output[0]
    part = onnx.utils.Extractor(proto).extract_model(["images"], list(conv.output))
    for other, message in (
        (proto, "model.0.conv: neither a bias nor a normalization"),
        (part, "not a YOLO11n: 87 of its 87 convolutions are missing or connected otherwise"),
    ):
        onnx.save(other, path)
        with pytest.raises(CheckpointError, match=message):
            load_pretrained(path)


@pytest.mark.slow
def test_export_of_a_part_of_the_classes(coco_file, tmp_path, capsys):
    path = tmp_path / "new/pair.onnx"
    assert export_main([str(coco_file), str(path), "--classes", *PAIR, "--image-size", "64"]) == 0
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = session.get_modelmeta().custom_metadata_map["names"]
    assert ast.literal_eval(names) == dict(enumerate(PAIR))


def test_command_errors(coco_file, tmp_path, capsys):
    out = str(tmp_path / "out.onnx")
    (tmp_path / "bad.onnx").write_bytes(b"text")
    for arguments, message in [
        ([str(tmp_path / "bad.onnx"), out], "bad.onnx: no ONNX model"),
        ([str(coco_file), out, "--classes", "helmet"], "no class helmet"),
        ([str(coco_file), out, "--classes", "dog", "dog"], "wanted twice: dog, dog"),
    ]:
        assert export_main(arguments) == 1
        assert message in capsys.readouterr().err
    for size in ("100", "-32", "0"):
        with pytest.raises(SystemExit):
            export_main([str(coco_file), out, "--image-size", size])
        assert f"must be a multiple of 32, got {size}" in capsys.readouterr().err
    assert not (tmp_path / "out.onnx").exists()


@pytest.mark.parametrize(
    ("data", "said", "seen"),
    [
        (["synthetic"], None, "drawn pictures"), (["coco"], None, None),
        (["a", "synthetic"], None, None), (["a"], "ten photographs", "ten photographs"),
    ],
)  # fmt: skip
def test_what_a_model_will_have_seen(data, said, seen):
    assert start(None, ["a"], data=data, trained_on=said)[1] == seen


def test_what_a_resumed_run_is_told_that_it_will_have_seen(tmp_path):
    """Prefer the words of the command to those of the checkpoint."""
    last = tmp_path / "last.safetensors"
    save_weights(last, {"a": np.zeros(1)}, {"trained_on": "drawn pictures"})
    resumed = partial(start, None, ["a"], last, resume=True, freeze=True)
    assert resumed()[1] == "drawn pictures"
    model, seen = resumed(trained_on="ten photographs")
    assert (seen, model.kept, model.size) == ("ten photographs", BACKBONE, "n")
    with pytest.raises(CheckpointError, match="of a YOLO11n, not of size s"):
        resumed(size="s")


# ------------------------------------------------------------------------------ 16 bits


@pytest.mark.slow
def test_filters_in_16_bits(tmp_path, capsys):
    model = YOLO11n(2, seed=3)
    path, half = tmp_path / "a.safetensors", tmp_path / "half.safetensors"
    info = {"classes": ["cat", "dog"], "class_width": model.class_width, "epoch": 4}
    save_weights(path, model.state_dict(), info)
    assert half_weights.main([str(path), str(half), "--trained-on", "two pictures"]) == 0
    assert half.stat().st_size < 0.52 * path.stat().st_size
    again, rows, info = load_pretrained(half, ["dog", "bird"])
    assert rows == {"dog": 1, "bird": None}
    assert (info["trained_on"], "epoch" in info) == ("two pictures", False)
    whole, _, _ = load_pretrained(path, ["dog", "bird"])
    for name, value in again.state_dict().items():
        expected = whole.state_dict()[name]
        assert value.dtype == expected.dtype
        exact = value.ndim != 4
        np.testing.assert_allclose(
            value, expected, rtol=0 if exact else 2**-11, atol=0 if exact else 3e-8
        )

    state = model.state_dict()
    state["model.0.conv.weight"] = state["model.0.conv.weight"] + np.float32(1e5)
    save_weights(path, state, info)
    assert half_weights.main([str(path), str(tmp_path / "b.safetensors")]) == 1
    assert "model.0.conv.weight has weights beyond" in capsys.readouterr().err
    assert not (tmp_path / "b.safetensors").exists()
