"""The compiled training step of a small network, against NumPy and in every mode of PyTensor."""

import math
from importlib.util import find_spec
from types import SimpleNamespace

import jax
import numpy as np
import pytest
import train_yolo11n
from data.augment import Augment, Plan
from data.loader import BatchLoader
from loss import yolo_loss
from model import BACKBONE, YOLO11n
from training.finishing import with_averages
from training.options import make_recipe, parse_arguments
from training.recipe import Rates, Recipe, StepSettings
from training.train_step import (
    OWN_MODES,
    DeviceImages,
    HostImages,
    TrainStep,
    has_loops,
    target_inputs,
    training_mode,
    uses_jax,
)

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.link.jax import jax_mode
from pytensor.link.jax.mode import Options
from pytensor.link.numba.parts import NumbaPartsLinker
from tests.examples.yolo11n.data.pictures import noise
from tests.examples.yolo11n.training.runs import Stage, StepGraph
from tests.utils import dtypes_of, in_turn, no_compilation

pytestmark = [pytest.mark.training, pytest.mark.usefixtures("compiler", "compiled_sooner")]

TORCH = pytest.param(
    "PYTORCH",
    marks=pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed"),
)
GPU = pytest.param(jax_mode(donate=True, platform="cuda"), id="GPU")
SIZE, BATCH, BOXES = 64, 2, 4
DECAY = 0.1


def rates(steps):
    """Return the rates of a step after so many others."""
    return Rates(0.01, 0.02, 0.9, Recipe().decay_of_averages(steps))


def random_batch(seed):
    rng = np.random.default_rng(seed)
    centres, sides = rng.uniform(0.3, 0.7, (2, BATCH, BOXES, 2))
    return SimpleNamespace(
        images=rng.integers(0, 256, (BATCH, 3, SIZE, SIZE), dtype=np.uint8),
        boxes=np.concatenate([centres, sides], axis=-1).astype("float32"),
        classes=rng.integers(0, 2, (BATCH, BOXES), dtype=np.int32),
        num_boxes=np.array([BOXES, 2], dtype=np.int32),
    )


def values_of(variables):
    return {name: np.array(v.get_value()) for name, v in variables.items()}


@pytest.fixture(scope="module")
def compiled():
    """Return steps that were compiled before, and what their variables held then."""
    return {}


@pytest.fixture
def make_step(compiled, float32_everywhere):
    """Make the step of a `Stage`, as if new; the same one is compiled once."""

    def make(accumulate=1, optimizer="sgd"):
        key = (accumulate, optimizer)
        if key not in compiled:
            step = TrainStep(Stage(), SIZE, BATCH, BOXES, DECAY, accumulate, optimizer=optimizer)
            compiled[key] = step, [np.array(v.get_value()) for v in step.variables]
        step, initial = compiled[key]
        for variable, value in zip(step.variables, initial, strict=True):
            variable.set_value(value)
        return step

    return make


# ------------------------------------------------------------------------------ by hand


@pytest.fixture(scope="module")
def gradients():
    """Return a function of batch numbers: float64 gradients of a new `Stage` for two batches."""
    model = Stage()
    images = pt.tensor("images", dtype="float32", shape=(BATCH, 3, SIZE, SIZE))
    targets = {variable.name: variable for variable in target_inputs(BATCH, BOXES)}
    with layers.training():
        total, _ = yolo_loss(model(images), targets, 2)
    function = pytensor.function(
        [images, *targets.values()], pytensor.grad(total, model.parameters()), mode="FAST_COMPILE"
    )
    found = []
    for seed in range(2):
        batch = random_batch(seed)
        arrays = [getattr(batch, name) for name in targets]
        values = function((batch.images / 255).astype("float32"), *arrays)
        found.append([np.asarray(v, "float64") for v in values])

    def of(*seeds):
        sums = [sum(rows) for rows in zip(*(found[seed] for seed in seeds), strict=True)]
        norm = math.sqrt(sum((g**2).sum() for g in sums))
        return {p.name: g for p, g in zip(model.parameters(), sums, strict=True)}, norm

    return of


def orthogonalized(x):
    u, s, vt = np.linalg.svd(x.reshape(len(x), -1), full_matrices=False)
    s = s / (np.linalg.norm(s) + 1e-7)
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return ((u * s) @ vt).reshape(x.shape)


def first_step(optimizer, name, value, gradient):
    """Return what an optimizer's first step takes from a parameter, by the recipe's words."""
    lr, bias_lr, momentum, _ = rates(0)
    rate = bias_lr if name.endswith(".bias") else lr
    decay = DECAY * value if value.ndim == 4 else 0.0
    if optimizer == "adamw":  # both moments are the gradient's own: all move by their rate
        return rate * (gradient / (np.abs(gradient) + 1e-8) + decay)
    step = (1 + momentum) * (gradient + decay)
    if optimizer == "sgd":
        return rate * step
    if name.startswith("model.23.cv3."):
        rate = rate + 2 * lr if name.endswith(".bias") else 3 * rate
    if value.ndim == 4:
        step = step + 0.2 * orthogonalized((1 - momentum) * (1 + momentum) * gradient)
    return rate * step


@pytest.mark.by_default("adamw-2")
@in_turn("optimizer, accumulate", ["sgd", "adamw", "musgd"], [1, 2])
def test_first_step_by_hand(make_step, gradients, optimizer, accumulate):
    """Sums over batches, clipping, groups, momentum and averages."""
    step = make_step(accumulate, optimizer)
    model = step.model
    before = values_of(model.named_parameters())
    averages = values_of(step.averages)
    expected, norm = gradients(*range(accumulate))
    assert norm > 10
    done = 10_000  # the averages' decay is 0.9999 * (1 - exp(-5.0005)) then
    for k in range(accumulate):
        last = k == accumulate - 1
        losses, found = step.run(random_batch(k), rates(done), last)
        assert (found is None) == (not last)
        assert all(isinstance(loss, jax.Array) for loss in losses)
        if not last:  # a batch without a step changes sums and statistics alone
            now = values_of(model.named_parameters())
            assert all((now[name] == value).all() for name, value in before.items())
    np.testing.assert_allclose(float(found), norm, rtol=1e-4)
    for name, value in before.items():
        # AdamW's first step is the sign of the gradient: where that is next to nothing, so is
        # what is known of it.
        known = np.abs(expected[name]) > 1e-4 * np.abs(expected[name]).max()
        gradient = expected[name] * (10 / norm)
        wanted = value - first_step(optimizer, name, value.astype("float64"), gradient)
        actual = np.asarray(model.named_parameters()[name].get_value())
        np.testing.assert_allclose(actual[known], wanted[known], rtol=1e-3, atol=2e-5, err_msg=name)
    decay = 0.9999 * (1 - math.exp(-(done + 1) / 2000))
    for name, variable in model.named_variables().items():
        wanted = decay * averages[name] + (1 - decay) * np.asarray(variable.get_value())
        actual = np.asarray(step.averages[name].get_value())
        np.testing.assert_allclose(actual, wanted, rtol=1e-5, atol=1e-6, err_msg=name)
    sums = [v for name, v in step.state.items() if name.endswith("accumulated_gradient")]
    assert len(sums) == (len(before) if accumulate > 1 else 0)
    assert not any(np.asarray(v.get_value()).any() for v in sums)


@pytest.mark.by_default("2-adamw")
@pytest.mark.parametrize(("accumulate", "optimizer"), [(1, "musgd"), (2, "adamw")])
def test_one_compilation_and_values_stay_on_the_device(make_step, accumulate, optimizer):
    step = make_step(accumulate, optimizer)
    # Warm: the first call gets NumPy's arrays, the second what the first left on the device.
    for done in range(2):
        step.run(step.transfer(random_batch(done)), rates(done))
    with no_compilation():
        for done in range(2, 4):
            step.run(step.transfer(random_batch(done)), rates(done))
    for variable in step.variables:
        value = variable.container.storage[0]
        assert isinstance(value, jax.Array), variable.name
        assert value.dtype == (np.int32 if variable.name == "step" else np.float32), variable.name


def test_graphs_are_float32():
    """Whatever floatX is: here it is float64."""
    step = TrainStep(Stage(), SIZE, BATCH, BOXES, DECAY, optimizer="musgd")
    dtypes = dtypes_of(step._step.maker.fgraph.outputs)
    assert "float32" in dtypes
    assert not dtypes & {"float64", "complex128"}


@pytest.mark.usefixtures("float32_everywhere")
def test_placing():
    placed, put = [], []

    def keep(arrays):
        put.append(arrays)
        return arrays

    step = TrainStep(
        Stage(), SIZE, BATCH, BOXES, DECAY, place=placed.append, put=keep, mode="FAST_COMPILE"
    )
    assert placed == [step.variables]
    assert {v.name for v in step.variables} >= {*step.model.named_variables(), *step.state}
    batch = random_batch(0)
    step.run(batch, rates(0))
    step.run(step.transfer(batch), rates(1))
    for arrays in put:
        expected = [batch.images, batch.boxes, batch.classes, batch.num_boxes]
        assert all(a is b for a, b in zip(arrays, expected, strict=True))
    assert len(put) == 2
    step.place_variables()
    assert placed == [step.variables] * 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crowd", "complete", "drawn"),
    [(0, None, "off"), (1, None, "on"), (1, [1], "off")],
)
def test_a_step_takes_what_batches_have(builder, monkeypatch, crowd, complete, drawn):
    """Regions, and which classes are labelled, where the data set says such things at all."""
    builder.add(64, 64, [(1, 8, 8, 24, 24), (1, 8, 8, 40, 40, crowd)])
    builder.add(64, 64, [(77, 8, 8, 24, 24)])
    if complete:
        builder.images[0]["complete"] = complete
    arguments = f"--data x --batch-size {BATCH} --image-size {SIZE} --copy-paste 0.5 --workers 0"
    pasted = ["--paste-on", "person:cell phone:0.25", "--scale", "0.5:2"]
    pasted += ["--classes", "person", "cell phone"]
    o = parse_arguments("", [*arguments.split(), *pasted, "--device-augment", drawn])
    settings = StepSettings(make_recipe(o), o.epochs, 1, BATCH)
    devices = SimpleNamespace(count=1, rows=range, mesh=None, replicate=None)
    loader = train_yolo11n.make_loader(o, builder.dataset(size=SIZE), devices, None)
    assert loader.augment.paste_on[:3] == (0, 1, 0.25)
    assert loader.augment.scale == (0.5, 2)
    monkeypatch.setattr(train_yolo11n, "TrainStep", StepGraph)
    graph = train_yolo11n.make_step(o, Stage(), loader, settings, devices)
    inputs = graph._add[0]
    (batch,) = loader.epoch(0)
    forms = [(v.type.dtype, v.type.shape) for v in inputs]
    assert forms == [(a.dtype, a.shape) for a in graph.arguments(batch)]
    names = {"regions", "region_classes"} if crowd else set()
    names |= {"windows", "labelled"} if complete else set()
    names |= {"boxes", "classes", "num_boxes"}
    assert {v.name for v in inputs} - {*Plan._fields, "images"} == names
    saved = train_yolo11n.run_settings(o, make_recipe(o), loader, None)
    # A run of other settings can't be resumed.
    assert {"lr": 0.01, "precision": "float32", "epochs": 100}.items() <= saved.items()
    # A mosaic of two pictures has each twice, and each of six pasted things may show the region.
    assert saved.get("max_regions") == (2 + 6 * 1 if crowd else None)
    # Two things pasted anywhere may bring others along; four that are pasted onto others, none.
    most = loader.dataset.things.most_boxes
    assert saved["max_boxes"] == loader.dataset.max_boxes(mosaic=True) + 2 * most + 4


# ------------------------------------------------------------------------------ images


@pytest.mark.usefixtures("float32_everywhere")
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_host_images(dtype):
    source = HostImages(SIZE, BATCH, dtype)
    assert source.shared == []
    assert source.images.type.dtype == "float32"
    assert source.images.type.shape == (BATCH, 3, SIZE, SIZE)
    pixels = random_batch(0).images
    batch = SimpleNamespace(images=pixels if dtype == "uint8" else (pixels / 255).astype(dtype))
    result = pytensor.function(source.variables, source.images, mode="FAST_COMPILE")(
        *source.arguments(batch)
    )
    np.testing.assert_allclose(result, pixels / 255, rtol=1e-6)


@pytest.mark.usefixtures("float32_everywhere")
def test_images_drawn_on_the_device_are_those_of_the_host():
    dataset = noise([(SIZE, SIZE)] * 5, size=SIZE)
    images = DeviceImages(dataset.squares, SIZE, BATCH)
    (squares,) = images.shared
    assert isinstance(squares.container.storage[0], jax.Array)
    draw = pytensor.function(images.variables, images.images, mode="JAX", trust_input=True)
    common = {"augment": Augment(), "workers": 0, "max_boxes": BOXES}
    host, device = (
        BatchLoader(dataset, BATCH, **common, render=render).epoch(0) for render in (True, False)
    )
    for drawn, planned in zip(host, device, strict=True):
        assert planned.images is None
        assert isinstance(planned.plan, Plan)
        actual = np.asarray(draw(*images.arguments(planned))) * 255
        assert drawn.images.std() > 10
        np.testing.assert_allclose(actual, drawn.images, rtol=0, atol=1.01)
        assert np.mean(np.abs(actual - drawn.images)) < 0.02


# ------------------------------------------------------------------------------ modes


def test_modes_of_training():
    linker = training_mode().linker
    assert linker.options == Options(donate=True, cpu_kernels=True, keep_programs=True)
    assert training_mode("jax", "bf16").linker.options.precision == "bf16"
    assert isinstance(training_mode("NUMBA").linker, NumbaPartsLinker)
    modes = ("JAX", training_mode(), "NUMBA", "FAST_RUN")
    assert [uses_jax(mode) for mode in modes] == [True, True, False, False]
    assert all(map(has_loops, modes))
    assert not any(map(has_loops, ("PYTORCH", "MLX")))
    with pytest.raises(ValueError, match="precision bf16 is for the mode JAX, not NUMBA"):
        training_mode("NUMBA", "bf16")


def two_steps(mode):
    """Return losses and norms of two steps, and all that they left, by name."""
    model = Stage()
    mode = training_mode(mode) if mode in OWN_MODES else mode
    step = TrainStep(model, SIZE, BATCH, BOXES, 5e-4, mode=mode)
    numbers = []
    for k in range(2):
        # as a run does: what comes is a batch on the device, if the mode has one
        parts, norm = step.run(step.transfer(random_batch(k)), rates(k))
        numbers += [*map(float, parts), float(norm)]
    return numbers, values_of(model.named_variables() | step.state)


def assert_same_steps(expected, mode):
    numbers, arrays = two_steps(mode)
    others, values = expected
    assert min(numbers) > 0
    # Behind an update, a norm's error was up to 3e-4 for four batches, and plain JAX's 2e-4.
    np.testing.assert_allclose(numbers[:-1], others[:-1], rtol=2e-4)
    np.testing.assert_allclose(numbers[-1], others[-1], rtol=1e-3)
    start = Stage().state_dict()
    assert arrays.keys() == values.keys()
    for name, value in arrays.items():
        moved = np.abs(values[name] - start.get(name, 0)).max()
        difference = np.abs(value - values[name]).max()
        assert difference <= 1e-3 * moved + 1e-6, (name, difference, moved)


@pytest.fixture(scope="module")
def in_jax():
    return two_steps(jax_mode())


@pytest.mark.by_default("PYTORCH")
@pytest.mark.slow
@pytest.mark.parametrize("mode", [None, GPU, "NUMBA", "FAST_COMPILE", TORCH])
def test_a_small_network_trains_alike_in_every_mode(in_jax, mode):
    """Without a mode it is the one of training, which donates."""
    assert_same_steps(in_jax, mode)


# As the demo trains, without 64 bits: with them, PyTensor's own mode adds up float32 in float64,
# and scatters the sums into float32.  It warns of checks that it drops, and of dtypes that JAX
# cuts.
@pytest.mark.slow
@pytest.mark.usefixtures("float32_everywhere")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_small_network_trains_alike_in_plain_jax(in_jax):
    assert_same_steps(in_jax, "JAX")


@pytest.mark.slow
def test_a_frozen_backbone_stays():
    """No update, no average and no state of the optimizer is of its weights or statistics."""
    step = StepGraph(YOLO11n(kept=BACKBONE), SIZE, BATCH, BOXES, 5e-4)
    names = [*(v.name for v in step._step[2]), *step.averages, *step.state]
    modules = {int(name.split("model.")[1].split(".")[0]) for name in names}
    assert modules == {13, 16, 17, 19, 20, 22, 23}
    assert {v.name for v in step.variables} >= {"model.0.conv.weight", "model.10.cv1.bn.bias"}


@pytest.mark.slow
def test_kept_classes_keep_the_averages_near_the_starting_weights():
    """Rows of new classes start randomly, so their averages follow the trained ones."""
    model = YOLO11n(3)
    before = with_averages(model, {})
    step = StepGraph(model, SIZE, BATCH, BOXES, 5e-4, layers=1, before=before, new=[2])
    assert not [v.name for v in step._step[2] if ".running_" in v.name]
    assert not [name for name in step.averages if ".running_" in name]
    updates = step._average({param: param + np.float32(1) for param in model.parameters()})
    names = "model.16.cv1.conv.weight", "model.23.cv3.0.2.weight", "model.23.cv3.2.2.bias"
    averages = [step.averages[name] for name in names]
    moved = [updates[average] - average for average in averages]
    others, *rows = pytensor.function([step.ema.decay], moved, mode="FAST_COMPILE")(0.5)
    np.testing.assert_allclose(others, 0.25, rtol=1e-4)
    for each in rows:
        np.testing.assert_allclose(each[:2], 0.25, rtol=1e-4)
        np.testing.assert_allclose(each[2], 0.5, rtol=1e-4)
