"""Training steps and heads for the page, as graphs and as ONNX files."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
from loss import yolo_loss
from onnx import helper
from tools import teaching
from tools.quantize import float_nodes

import pytensor
import pytensor.tensor as pt
from pytensor.link.jax import jax_mode
from pytensor.link.onnx import half_weights, quantize_int8
from tests.examples.yolo11n.conftest import CLASSES, SIZE

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("compiled_sooner")]
SHAPES = [(64, 8, 8), (128, 4, 4), (256, 2, 2), (4 + len(CLASSES), 84)]


@pytest.fixture(scope="module")
def variants(finder_onnx_of_one):
    """Return the detector as the page may get it: as exported, in 16-bit floats, in integers."""
    model = onnx.load(finder_onnx_of_one)
    rng = np.random.default_rng(0)
    images = [{"images": rng.random((1, 3, SIZE, SIZE), dtype="float32")} for _ in range(3)]
    quantized = quantize_int8(model, calibration=images, exclude=float_nodes(model))
    return {"float32": model, "float16": half_weights(model), "int8": quantized}


@pytest.fixture(scope="module", autouse=True)
def models_made_once():
    """Make each step and head once: whatever weights are stored as, their graphs are the same."""
    made = {}

    def once(make):
        def remembered(*given):
            key = f"{make.__name__}{given}"
            if key not in made:
                made[key] = make(*given)
            return made[key]

        return remembered

    with pytest.MonkeyPatch.context() as patch:
        for make in (teaching.step_model, teaching.head_model):
            patch.setattr(teaching, make.__name__, once(make))
        yield


@pytest.fixture(scope="module")
def assets(variants):
    return teaching.teaching_assets(variants["float32"])


def run(model, feeds, names=None):
    """Return outputs by name, or those of some other tensors of the graph."""
    changed = onnx.ModelProto.FromString(model.SerializeToString())
    if names is not None:
        del changed.graph.output[:]
        changed.graph.output.extend(helper.make_tensor_value_info(n, 1, None) for n in names)
    session = onnxruntime.InferenceSession(changed.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, feeds), strict=True))


def first_state(model, assets, part, images):
    """Return what the page begins a lesson with, by name."""
    state = json.loads(assets["teach-info"])["parts"][part]["state"]
    tensors = run(model, {"images": images}, sorted({s["tensor"] for s in state if "tensor" in s}))
    return {
        s["name"]: tensors[s["tensor"]]
        if "tensor" in s
        else np.full(s["shape"], s["value"], s["dtype"])
        for s in state
    }


def batch_of(model, assets, rng):
    """Make maps, output and targets of a batch of pictures with a box each."""
    tensors = json.loads(assets["teach-info"])["tensors"]
    images = rng.random((teaching.BATCH, 3, SIZE, SIZE), dtype="float32")
    found = [run(model, {"images": image[None]}, list(tensors.values())) for image in images]
    feeds = {name: np.concatenate([one[t] for one in found]) for name, t in tensors.items()}
    boxes = np.full((teaching.BATCH, teaching.MAX_BOXES, 4), np.nan, "float32")
    boxes[:, 0] = rng.uniform(0.3, 0.6, (teaching.BATCH, 4))
    classes = np.zeros((teaching.BATCH, teaching.MAX_BOXES), "int32")
    classes[:, 0] = rng.integers(0, 3, teaching.BATCH)
    return feeds | {
        "boxes": boxes,
        "classes": classes,
        "num_boxes": np.ones(teaching.BATCH, "int32"),
        "rate": np.array(0.01, "float32"),
    }


@pytest.mark.by_default("int8")
@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
def test_first_weights_come_out_of_the_model(variants, assets, kind):
    """Whatever the weights are stored as, the second head begins near the first head's."""
    images = np.random.default_rng(1).random((1, 3, SIZE, SIZE), dtype="float32")
    made = assets if kind == "float32" else teaching.teaching_assets(variants[kind])
    own = first_state(variants[kind], made, "whole", images)
    for name, value in first_state(variants["float32"], assets, "whole", images).items():
        limit = 1e-6 if kind == "float32" else 0.02
        np.testing.assert_allclose(own[name], value, atol=limit * np.abs(value).max(), rtol=0)


def test_second_head_of_the_same_weights_finds_the_same_boxes(variants, assets):
    """Mode "whole" with nothing learned: the second head's boxes are the first head's."""
    model, info = variants["float32"], json.loads(assets["teach-info"])
    images = np.random.default_rng(2).random((1, 3, SIZE, SIZE), dtype="float32")
    values = run(model, {"images": images}, list(info["tensors"].values()))
    found = values["output0"]
    state = first_state(model, assets, "whole", images)
    # A new class, and the second of the known ones learned anew.
    rows = {"known": np.array([0, 1, 2]), "learned": np.array([8, 1, 0])}
    results = {}
    for part in ("class", "whole"):
        head = onnx.ModelProto.FromString(assets[f"teach-{part}-head"])
        names = {i.name.removeprefix("taught/") for i in head.graph.input}
        given = {f"taught/{n}": v for n, v in (state | rows).items() if n in names}
        # The maps have the names that they have in the detector.
        for k, tensor in enumerate(info["tensors"].values()):
            head.graph.input[k].name, given[tensor] = tensor, values[tensor]
        results[part] = run(head, given)["taught/detections"]
    prior = results["class"][0, 6]
    np.testing.assert_array_equal(results["class"][:, :5], found[:, :5])
    np.testing.assert_allclose(results["class"][:, 5], np.maximum(found[:, 5], prior))
    assert (prior > 0).all()
    assert (prior < 2e-3).all()
    first, second = np.split(results["whole"], 2, axis=2)
    np.testing.assert_array_equal(first[:, :6], found)
    assert (first[:, 6] == 0).all()
    np.testing.assert_allclose(second[:, :4], found[:, :4], atol=1e-3)
    assert (second[:, 4] == 0).all()
    np.testing.assert_allclose(second[:, 5:], np.broadcast_to(prior, (1, 2, 84)), rtol=1e-5)


def test_class_loss_is_that_of_training(variants, assets):
    """The loss of "class" is YOLO's class loss where the boxes are the second head's own."""
    model, rng = variants["float32"], np.random.default_rng(3)
    feeds = batch_of(model, assets, rng)
    head = teaching.SecondHead("whole", 64)
    maps, found = teaching.inputs_of(SHAPES, teaching.BATCH)
    inputs = teaching.target_inputs(teaching.BATCH, teaching.MAX_BOXES)
    targets = {variable.name: variable for variable in inputs}
    predictions = head.predictions(maps)
    _, parts = yolo_loss(predictions, targets, teaching.MAX_CLASSES)
    decoded = head.model.decode(predictions)
    head.part = "class"
    own = head.loss(maps, pt.specify_shape(decoded[:, :6], found.type.shape), targets)
    inputs, outputs = [*maps, *targets.values()], [own, parts["cls_loss"]]
    compute = pytensor.function(inputs, outputs, mode=jax_mode())
    values = compute(*(feeds[v.name] for v in inputs))
    np.testing.assert_allclose(values[0], values[1], rtol=1e-5)
    assert values[0] > 0


@pytest.mark.parametrize("part", ["class", "whole"])
def test_steps_learn_a_batch(variants, assets, part):
    feeds = batch_of(variants["float32"], assets, np.random.default_rng(4))
    state = first_state(variants["float32"], assets, part, np.zeros((1, 3, SIZE, SIZE), "float32"))
    session = onnxruntime.InferenceSession(assets[f"teach-{part}-step"])
    names, outputs = ([v.name for v in vs] for vs in (session.get_inputs(), session.get_outputs()))
    assert set(names) >= state.keys()
    losses = []
    for _ in range(25):
        given = {name: value for name, value in (feeds | state).items() if name in names}
        results = dict(zip(outputs, session.run(None, given), strict=True))
        losses.append(results["loss"])
        state = {name: results[f"next/{name}"] for name in state}
    assert state["step"] == 25
    assert losses[-1] < 0.7 * losses[0]


def test_steps_are_small_and_of_what_browsers_compute(assets):
    """A page grows by little, and onnxruntime-web has no casts from or to float64."""
    assert sum(map(len, assets.values())) < 1_000_000
    for name in ("teach-class-step", "teach-whole-step"):
        graph = onnx.shape_inference.infer_shapes(onnx.ModelProto.FromString(assets[name])).graph
        kinds = {v.type.tensor_type.elem_type for v in [*graph.value_info, *graph.input]}
        assert onnx.TensorProto.DOUBLE not in kinds


def test_other_models_have_no_teaching_assets(variants):
    model = onnx.ModelProto.FromString(variants["float32"].SerializeToString())
    for node in model.graph.node:
        node.input[:] = [name.replace("model.23.", "head.") for name in node.input]
    assert teaching.teaching_assets(model) == {}
