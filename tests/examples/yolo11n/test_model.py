"""YOLO11n against its specification: sizes, names, golden forward passes."""

import hashlib

import numpy as np
import pytest
from model import LEVELS, YOLO11n, size_of
from training.weights import SECOND_BLOCK

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.link.jax import jax_mode
from pytensor.link.jax.mode.building import quick_building
from tests.examples import yolo11n_golden as golden
from tests.utils import REFERENCE_MODE, dtypes_of


def build(num_classes, height, width):
    """Return a model, its input and its raw predictions."""
    x = pt.tensor("images", dtype="float32", shape=(None, 3, height, width))
    model = YOLO11n(num_classes)
    return model, x, model(x)


@pytest.fixture(scope="module", params=golden.FORMS)
def golden_model(request, compiled_sooner):
    """Return the golden model, its graph, one compiled inference function, and that one's form.

    Outputs: three raw maps, the decoded predictions, and the feature maps of modules 0 to 22.
    """
    model, x, predictions = build(2, 320, 320)
    golden.load_golden_weights(model)
    features = model.feature_maps(x)
    outputs = [*predictions.values(), model.decode(predictions), *features.values()]
    form = request.param
    return model, pytensor.function([x], outputs, mode=jax_mode(**form)), form


def by_anchor(maps):
    """Join raw maps to (batch, channels, anchors)."""
    return np.concatenate([np.asarray(m).reshape(*m.shape[:2], -1) for m in maps], axis=2)


def check_layers(outputs, name, form):
    """Compare every module's output, so that a failure names the first wrong one.

    Mixed precision turns the deepest maps by a fifth of their norm: their largest values by more.
    """
    rtol, atol = (0.1, 0.05) if form == golden.LOW else (1e-3, 1e-4)
    for (i, expected), v in zip(golden.load_json(name).items(), outputs, strict=True):
        v, where = np.asarray(v), f"module {i}"
        assert list(v.shape) == expected["shape"], where
        actual = {"mean": v.mean(), "std": v.std(), "absmax": np.abs(v).max()}
        wanted = [expected[key] for key in actual]
        np.testing.assert_allclose([*actual.values()], wanted, rtol=rtol, atol=atol, err_msg=where)


@pytest.mark.parametrize(("num_classes", "trainable"), [(2, 2_590_214), (80, 2_624_064)])
def test_sizes(num_classes, trainable):
    model = YOLO11n(num_classes)
    assert len(model.parameters()) == 255
    assert sum(np.prod(p.type.shape) for p in model.parameters()) == trainable
    assert len(model.state_dict()) == 418


def count(model):
    """Return the number of weights, with the 16 fixed ones of the distribution head."""
    return sum(v.get_value(borrow=True).size for v in model.parameters()) + 16


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "few", "many", "tensors", "digest"),
    [
        ("s", 9_428_566, 9_458_752, 255, "4a1a7e18d5f2fe08"),
        ("m", 20_054_550, 20_114_688, 330, "fa981fe06a32d79d"),
        ("l", 25_312_022, 25_372_160, 513, "baf0bd7b7eeb3a79"),
    ],
)
def test_larger_sizes(size, few, many, tensors, digest):
    """Numbers of parameters of 2 and of 80 classes; a hash of all names and shapes."""
    model = YOLO11n(2, size=size)
    assert (count(model), len(model.parameters())) == (few, tensors)
    shapes = {name: "x".join(map(str, v.shape)) for name, v in model.state_dict().items()}
    text = "".join(f"{name}\t{shape}\n" for name, shape in shapes.items())
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == digest
    assert count(YOLO11n(80, size=size)) == many
    repeats = 2 if SECOND_BLOCK in model.state_dict() else 1
    assert size_of(model.state_dict()["model.0.conv.weight"].shape[0], repeats) == size


@pytest.mark.long
@pytest.mark.parametrize("size", ["s", "m", "l"])
def test_golden_training_of_larger_sizes(size):
    """In every seventh anchor, at 96 px."""
    model = YOLO11n(2, size=size)
    golden.load_golden_weights(model)
    x = pt.tensor("images", dtype="float32", shape=(2, 3, 96, 96))
    with layers.training():
        outputs = [*model(x).values()]
    with quick_building():
        run = pytensor.function([x], outputs, mode=jax_mode())
    raw = by_anchor(run(golden.images(2, 96)))[:, :, ::7]
    expected = golden.load_arrays(golden.CORE / "sizes_train_nc2.npz")
    for part, name in ((raw[:, :64], "boxes"), (raw[:, 64:], "scores")):
        np.testing.assert_allclose(part, expected[f"{size}_{name}"], atol=1e-3, rtol=0)


def test_names_shapes_and_golden_rule():
    model = YOLO11n(2)
    expected = golden.load_json("weights_check_nc2.json")
    state = model.state_dict()
    assert list(state) == [name for name in expected if not name.endswith("num_batches_tracked")]
    golden.load_golden_weights(model)
    for name, value in model.state_dict().items():
        shape, digest = expected[name]
        assert list(value.shape) == shape
        assert hashlib.sha256(value.astype("<f4").tobytes()).hexdigest()[:16] == digest, name


def test_initial_weights():
    model = YOLO11n(2, seed=3)
    state = model.state_dict()
    w = state["model.5.conv.weight"]
    bound = 1 / np.sqrt(128 * 9)
    assert 0.99 * bound < np.abs(w).max() <= bound
    np.testing.assert_allclose(w.std(), bound / np.sqrt(3), rtol=0.01)
    for level, prior in enumerate([-7.8478, -6.4615, -5.0752]):
        np.testing.assert_allclose(state[f"model.23.cv3.{level}.2.bias"], prior, atol=1e-4)
        np.testing.assert_array_equal(state[f"model.23.cv2.{level}.2.bias"], 2)
    np.testing.assert_array_equal(YOLO11n(2, seed=3).state_dict()["model.5.conv.weight"], w)
    assert not np.array_equal(YOLO11n(2, seed=4).state_dict()["model.5.conv.weight"], w)


@pytest.mark.by_default("gpu")
@pytest.mark.slow
def test_golden_inference(golden_model):
    """With calibrated statistics: the files with the rule's own can't see a wrong attention."""
    model, infer, form = golden_model
    state = model.state_dict()
    model.load_state_dict(state | golden.load_arrays(golden.CALIBRATED))
    *maps, decoded = (outputs := infer(golden.images()))[:4]
    np.testing.assert_allclose(infer(golden.images()[::-1])[3], decoded[::-1], atol=1e-3)
    model.load_state_dict(state)
    check_layers(outputs[4:], "layers_eval_cal_nc2.json", form)
    expected = golden.load_arrays(golden.CORE / "eval_cal_nc2_every7.npz")
    at = expected["anchor_index"]
    raw = by_anchor(maps)[:, :, at]
    golden.assert_close(raw[:, :64], expected["boxes_raw"], form, low=0.3, atol=1e-3, rtol=0)
    golden.assert_close(raw[:, 64:], expected["scores_raw"], form, low=0.4, atol=1e-3, rtol=0)
    boxes, scores = np.split(np.asarray(decoded)[:, :, at], [4], axis=1)
    wanted = np.split(expected["decoded"], [4], axis=1)
    golden.assert_close(boxes, wanted[0], form, low=0.03, atol=0.05, rtol=0)
    golden.assert_close(scores, wanted[1], form, low=0.1, atol=2e-4, rtol=0)


@pytest.mark.parametrize("form", golden.FORMS)
def test_golden_inference_80_classes(form):
    expected = golden.load_arrays(golden.full("eval_cal_nc80_640.npz"))
    model, x, predictions = build(80, 640, 640)
    golden.load_golden_weights(model, golden.full("bn_calib_nc80.npz"))
    infer = pytensor.function([x], model.decode(predictions), mode=jax_mode(**form))
    decoded = np.asarray(infer(golden.images(1, 640)))[0][:, expected["anchor_index"]]
    golden.assert_close(decoded[:4], expected["decoded"][:4], form, low=0.03, atol=0.05, rtol=0)
    golden.assert_close(decoded[4:], expected["decoded"][4:], form, low=0.1, atol=2e-4, rtol=0)


# In a GPU's form, a small network's in test_train_step.py. By default test_gradients.py compares
# what follows from it: losses, statistics and all gradients.
@pytest.mark.long
@pytest.mark.parametrize("golden_model", golden.PROCESSOR_FIRST, indirect=True)
def test_golden_training_mode(golden_model):
    """Batch statistics in the forward pass; and the model's graphs share their parameters."""
    model, _, form = golden_model
    x = pt.tensor("images", dtype="float32", shape=(None, 3, 320, 320))
    with layers.training() as updates:
        predictions, features = model(x), model.feature_maps(x)
    assert len(updates) == 162
    outputs = [*predictions.values(), *features.values()]
    outputs = pytensor.function([x], outputs, mode=jax_mode(**form))(golden.images())
    check_layers(outputs[3:], "layers_train_nc2.json", form)
    expected = golden.load_arrays(golden.CORE / "train_nc2.npz")
    for level, m in zip(LEVELS, outputs, strict=False):
        for part, wanted in [(m[:, :64], f"box_{level}"), (m[:, 64:], f"cls_{level}")]:
            golden.assert_close(part, expected[wanted], form, low=0.4, atol=1e-3, rtol=0)


def test_rectangular_input_and_types():
    with layers.training() as updates:
        model, _, predictions = build(3, 64, 96)
    shapes = [v.type.shape for v in predictions.values()]
    assert shapes == [(None, 67, 8, 12), (None, 67, 4, 6), (None, 67, 2, 3)]
    decoded = model.decode(predictions)
    assert decoded.type.shape[1:] == (7, 126)
    # The tests run with floatX=float64, where a constant that isn't cast would show.
    assert pytensor.config.floatX == "float64"
    assert not dtypes_of([decoded]) & {"float16", "float64"}
    assert len(updates) == 162


def test_decode_by_hand():
    """One certain bin per side gives the box; scores are the logits' sigmoid."""
    shapes = {"p3": (4, 2), "p4": (2, 1), "p5": (1, 1)}
    values = {k: np.zeros((1, 65, *s), np.float32) for k, s in shapes.items()}
    row, column = 2, 1
    for side, distance in enumerate([1, 2, 3, 4]):  # left, top, right, bottom
        values["p3"][0, side * 16 + distance, row, column] = 100
    values["p3"][0, 64, row, column] = 1.5
    inputs = {k: pt.tensor(k, dtype="float32", shape=(None, 65, *s)) for k, s in shapes.items()}
    run = pytensor.function([*inputs.values()], YOLO11n(1).decode(inputs), mode=REFERENCE_MODE)
    box = run(*values.values())[0, :, row * 2 + column]
    # centre (1.5, 2.5): x from 0.5 to 4.5, y from 0.5 to 6.5, in cells of 8 pixels
    np.testing.assert_allclose(box, [20, 28, 32, 48, 1 / (1 + np.exp(-1.5))], rtol=1e-5)


@pytest.mark.slow
def test_decode_of_an_open_batch_in_every_jax_mode():
    """PyTensor's own has no lengths that are computed."""
    shapes = {"p3": (4, 2), "p4": (2, 1), "p5": (1, 1)}
    inputs = {k: pt.tensor(k, dtype="float32", shape=(None, 65, *s)) for k, s in shapes.items()}
    decoded = YOLO11n(1).decode(inputs)
    rng = np.random.default_rng(0)
    values = [rng.normal(size=(2, 65, *s)).astype("float32") for s in shapes.values()]
    expected = pytensor.function([*inputs.values()], decoded, mode=REFERENCE_MODE)(*values)
    for mode in ("JAX", jax_mode()):
        run = pytensor.function([*inputs.values()], decoded, mode=mode)
        np.testing.assert_allclose(run(*values), expected, rtol=1e-4, atol=1e-5)


def test_load_state_dict_errors():
    model = YOLO11n(2)
    state = model.state_dict()
    before = state["model.0.conv.weight"].copy()
    lacking = {k: v + 1 for k, v in state.items() if k != "model.3.bn.weight"}
    with pytest.raises(ValueError, match=r"1 missing \(model.3.bn.weight\)"):
        model.load_state_dict(lacking)
    with pytest.raises(ValueError, match=r"1 unexpected \(other\)"):
        model.load_state_dict(state | {"other": np.zeros(1)})
    with pytest.raises(ValueError, match=r"model.0.conv.weight \(16, 3, 1, 1\) instead of"):
        model.load_state_dict(state | {"model.0.conv.weight": np.zeros((16, 3, 1, 1))})
    np.testing.assert_array_equal(model.state_dict()["model.0.conv.weight"], before)


def test_bad_inputs():
    for size, message in [((100, 96), "multiples of 32, got 100 x 96"), ((64, 0), "multiples")]:
        with pytest.raises(ValueError, match=message):
            build(2, *size)
    with pytest.raises(ValueError, match="images must be float32"):
        YOLO11n(2)(pt.tensor("x", dtype="float64", shape=(None, 3, 64, 64)))
    with pytest.raises(ValueError, match="num_classes must be at least 1"):
        YOLO11n(0)
    with pytest.raises(ValueError, match="size must be one of n, s, m, l, got 'x'"):
        YOLO11n(2, size="x")
