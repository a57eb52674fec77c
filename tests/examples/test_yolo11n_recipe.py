"""The training recipe: its choices, optimizers, feeding of the step, and early stopping.

A network of four parameters stands in for YOLO11n, whose step takes far longer to compile.
"""

import math
import sys
from types import ModuleType, SimpleNamespace

import jax
import numpy as np
import pytest
from model import YOLO11n
from training import train_step
from training.optimizer import parameter_groups
from training.recipe import Recipe, StepSettings, resolve
from training.train_step import DeviceImages, HostImages, TrainStep

import pytensor
import pytensor.tensor as pt

SIZE, BATCH, MAX_BOXES = 8, 2, 3
RATES = (0.01, 0.05, 0.9)


# ------------------------------------------------------------------------------ choices


def test_default_recipe_is_the_specified_one():
    recipe = Recipe()
    assert (recipe.optimizer, recipe.schedule, recipe.warmup_epochs) == ("sgd", "linear", 3)
    assert (recipe.lr, recipe.final_lr, recipe.weight_decay) == (0.01, 0.01, 5e-4)
    assert (recipe.momentum, recipe.warmup_momentum, recipe.warmup_bias_lr) == (0.937, 0.8, 0.1)
    assert (recipe.nominal_batch, recipe.ema_decay, recipe.ema_steps) == (64, 0.9999, 2000)
    assert train_step.MAX_GRADIENT_NORM == 10


@pytest.mark.parametrize(("num_classes", "lr"), [(2, 0.001667), (80, 0.000119)])
def test_short_runs_get_adamw(num_classes, lr):
    recipe = resolve(Recipe(optimizer="auto", lr=0.5), 6400, 16, 100, num_classes)
    assert recipe == Recipe(optimizer="adamw", lr=lr, warmup_bias_lr=0.0)


def test_long_runs_get_musgd():
    recipe = resolve(Recipe(optimizer="auto", lr=0.5, momentum=0.5), 100_000, 16, 100, 2)
    expected = {"lr": 0.01, "momentum": 0.937, "warmup_momentum": 0.9, "warmup_bias_lr": 0.0}
    assert recipe == Recipe(optimizer="musgd", **expected)


@pytest.mark.parametrize(
    ("images", "batch", "epochs", "chosen"),
    [
        (6400, 16, 100, "adamw"),  # exactly 10,000
        (6401, 16, 100, "musgd"),  # 101 steps an epoch
        (6401, 128, 100, "adamw"),  # 51
        (6400, 16, 101, "musgd"),
    ],
)
def test_number_of_steps_decides(images, batch, epochs, chosen):
    assert resolve(Recipe(optimizer="auto"), images, batch, epochs, 2).optimizer == chosen


@pytest.mark.parametrize("name", ["sgd", "adamw", "musgd"])
def test_explicit_recipes_stay(name):
    recipe = Recipe(optimizer=name, lr=0.3, warmup_bias_lr=0.2)
    assert resolve(recipe, 10**6, 16, 100, 2) is recipe


def test_warm_up_of_the_automatic_choices():
    settings = StepSettings(resolve(Recipe(optimizer="auto"), 640, 64, 100, 2), 100, 10, 64)
    assert settings.at(0, 0) == (0.0, 0.0, 0.9, 1)
    lr = 0.001667 * 0.9901
    assert settings.at(1, 15) == pytest.approx((lr / 2, lr / 2, 0.9, 1))
    settings = StepSettings(resolve(Recipe(optimizer="auto"), 10**6, 64, 100, 2), 100, 10, 64)
    assert settings.at(0, 0) == (0.0, 0.0, 0.9, 1)
    lr = 0.01 * 0.9901
    assert settings.at(1, 15) == pytest.approx((lr / 2, lr / 2, (0.9 + 0.937) / 2, 1))
    assert settings.at(3, 31)[2] == 0.937


@pytest.mark.parametrize("wrong", [{"optimizer": "adam"}, {"schedule": "step"}])
def test_unknown_names(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"{name} must be one of .*, not '{value}'"):
        Recipe(**wrong)


# ------------------------------------------------------------------------------ optimizers

SHAPES = {
    "model.0.conv.weight": (4, 3, 3, 3),
    "model.0.bn.weight": (4,),
    "model.0.bn.bias": (4,),
    "model.6.m.0.cv3.conv.weight": (4, 2, 1, 1),  # of a C3k, not of the class branch
    "model.23.cv3.0.0.0.conv.weight": (6, 1, 3, 3),
    "model.23.cv3.0.0.0.bn.weight": (6,),
    "model.23.cv3.0.2.bias": (2,),
}


def shared_parameters():
    rng = np.random.default_rng(0)
    return [
        pytensor.shared(rng.normal(size=shape).astype(np.float32), name=name, shape=shape)
        for name, shape in SHAPES.items()
    ]


def orthogonalized(x):
    u, s, vt = np.linalg.svd(x.reshape(len(x), -1).astype(np.float64), full_matrices=False)
    s = s / (np.linalg.norm(s) + 1e-7)
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return ((u * s) @ vt).reshape(x.shape)


def musgd(name, w, grads, rates, decay):
    """Steps of MuSGD as the specification says, in double precision."""
    buffer = average = np.zeros_like(w)
    for grad, (lr, bias_lr, momentum) in zip(grads, rates, strict=True):
        in_class_branch = name.startswith("model.23.cv3")
        rate = lr * (3 if in_class_branch else 1)
        if name.endswith(".bias"):
            rate = bias_lr + (2 * lr if in_class_branch else 0)
        decayed = grad + decay * w if w.ndim == 4 else grad
        buffer = momentum * buffer + decayed
        step = rate * (decayed + momentum * buffer)
        if w.ndim == 4:
            average = momentum * average + (1 - momentum) * grad
            step = step + rate * 0.2 * orthogonalized(momentum * average + (1 - momentum) * grad)
        w = w - step
    return w


def test_biases_of_the_class_branch_warm_up_from_the_same_start():
    settings = StepSettings(Recipe(), epochs=100, batches=10, batch_size=64)
    params = shared_parameters()
    lr, bias_lr = pt.scalar("lr", dtype="float32"), pt.scalar("bias_lr", dtype="float32")
    last = parameter_groups(params, lr, bias_lr, 0.1, class_factor=3.0)[-1]
    assert [p.name for p in last["params"]] == ["model.23.cv3.0.2.bias"]
    rate = pytensor.function([lr, bias_lr], last["learning_rate"], mode="FAST_COMPILE")
    for iteration in (0, 10, 30, 40):
        low, high, *_ = settings.at(2, iteration)
        share = min(iteration / 30, 1)
        target = 3 * 0.01 * settings.factor(2)
        expected = 0.1 + share * (target - 0.1)
        assert rate(np.float32(low), np.float32(high)) == pytest.approx(expected, rel=1e-5)


def test_groups_of_yolo11n():
    params = YOLO11n(2).params
    lr, bias_lr = pt.scalar("lr", dtype="float32"), pt.scalar("bias_lr", dtype="float32")
    groups = parameter_groups(params, lr, bias_lr, 0.1, class_factor=3.0)
    counts = [len(group["params"]) for group in groups]
    # 15 filters, 12 gammas and 15 biases of the class branch.
    assert counts == [72, 69, 72, 15, 12, 15]
    assert sum(counts) == len(params)
    decayed = [p for group in groups if "weight_decay" in group for p in group["params"]]
    assert {p.type.ndim for p in decayed} == {4}
    assert len(decayed) == 87


# ------------------------------------------------------------------------------ the step


class SmallModel:
    """Stands in for YOLO11n: a convolution with a scale and a bias, and a filter of the head."""

    num_classes = 2

    def __init__(self):
        values = {
            "model.0.conv.weight": np.linspace(-1, 1, 4 * 3).reshape(4, 3, 1, 1),
            "model.0.bn.weight": np.array([1.0, 0.5, 2.0, 1.5]),
            "model.0.bn.bias": np.zeros(4),
            "model.23.cv3.0.2.weight": np.linspace(1, -0.5, 2 * 4).reshape(2, 4, 1, 1),
        }
        trainable = {
            name: pytensor.shared(value.astype(np.float32), name=name, shape=value.shape)
            for name, value in values.items()
        }
        mean = pytensor.shared(np.array(0, np.float32), name="model.0.bn.running_mean")
        statistics = {mean.name: mean}
        self.store = SimpleNamespace(
            trainable=trainable, statistics=statistics, all=trainable | statistics
        )
        self.params = list(trainable.values())
        self.updates = []

    def __call__(self, images, training):
        assert training
        filters, scale, bias, head = self.params
        mean = self.store.statistics["model.0.bn.running_mean"]
        self.updates = [(mean, pt.mean(images, dtype="float32", acc_dtype="float32"))]
        # A 1 x 1 convolution of the images' means.
        x = pt.mean(images, axis=(2, 3), dtype="float32", acc_dtype="float32")
        hidden = pt.silu((x @ filters[:, :, 0, 0].T) * scale + bias)
        return hidden @ head[:, :, 0, 0].T


def small_loss(predictions, targets, num_classes):
    numbers = [targets["boxes"].sum(axis=2), targets["classes"], targets["num_boxes"]]
    target = sum(
        pt.sum(v.reshape((BATCH, -1)).astype("float32"), axis=1, keepdims=True) for v in numbers
    )
    total = pt.sum(pt.sqr(predictions - target), acc_dtype="float32") * np.float32(10)
    return total, dict.fromkeys(train_step.LOSS_PARTS, total)


@pytest.fixture(scope="module")
def compiled():
    """Steps that were compiled before, and what their variables held then."""
    return {}


@pytest.fixture
def small(monkeypatch, float32_everywhere, compiled):
    """Make the step of a small model, as if new; only what differs is compiled anew."""
    monkeypatch.setattr(train_step, "yolo_loss", small_loss)

    def make(accumulate=1, optimizer="sgd", **settings):
        def new():
            model = SmallModel()
            return TrainStep(
                model, SIZE, BATCH, MAX_BOXES, 0.1, accumulate, optimizer=optimizer, **settings
            )

        if settings:
            return new()
        key = (accumulate, optimizer)
        if key not in compiled:
            step = new()
            compiled[key] = step, values_of(step)
        step, initial = compiled[key]
        for variable in step.variables:
            variable.set_value(initial[variable.name])
        return step

    return make


def random_batch(seed, plan=None):
    rng = np.random.default_rng(seed)
    return SimpleNamespace(
        images=rng.integers(0, 256, (BATCH, 3, SIZE, SIZE), dtype=np.uint8),
        boxes=rng.uniform(size=(BATCH, MAX_BOXES, 4)).astype(np.float32),
        classes=np.zeros((BATCH, MAX_BOXES), np.int32),
        num_boxes=np.full(BATCH, MAX_BOXES, np.int32),
        plan=plan,
    )


def values_of(step):
    return {v.name: np.array(v.get_value()) for v in step.variables}


def assert_equal_values(a, b):
    assert a.keys() == b.keys()
    for name, value in a.items():
        np.testing.assert_array_equal(value, b[name], err_msg=name)


def gradients_of(batch):
    """The gradients of a small model as new, clipped, and the model's values."""
    model = SmallModel()
    images = pt.constant((batch.images / 255).astype(np.float32))
    targets = {
        name: pt.constant(getattr(batch, name)) for name in ("boxes", "classes", "num_boxes")
    }
    total, _ = small_loss(model(images, training=True), targets, 2)
    gradient = pytensor.function([], pytensor.grad(total, model.params), mode="FAST_COMPILE")()
    norm = math.sqrt(sum((g.astype(np.float64) ** 2).sum() for g in gradient))
    assert norm > 10
    names = list(model.store.trainable)
    values = [p.get_value().astype(np.float64) for p in model.params]
    return names, values, [g.astype(np.float64) * 10 / norm for g in gradient]


def test_musgd_step(small):
    step, batch = small(optimizer="musgd"), random_batch(0)
    step.run(batch, RATES, True, 0, Recipe())
    for name, value, grad in zip(*gradients_of(batch), strict=True):
        expected = musgd(name, value, [grad], [RATES], 0.1)
        actual = step.model.store.trainable[name].get_value()
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5, err_msg=name)


def test_adamw_step(small):
    """In the first step both moments are the gradient's own: every element moves by its rate."""
    step, batch = small(optimizer="adamw"), random_batch(0)
    step.run(batch, RATES, True, 0, Recipe())
    for name, value, grad in zip(*gradients_of(batch), strict=True):
        rate = RATES[1] if name.endswith(".bias") else RATES[0]
        kept = value * (1 - rate * 0.1) if value.ndim == 4 else value
        actual = step.model.store.trainable[name].get_value()
        np.testing.assert_allclose(
            actual, kept - rate * grad / (np.abs(grad) + 1e-8), rtol=1e-5, atol=1e-6, err_msg=name
        )
        square = step.state[f"{name}.exp_avg_sq"].get_value()
        np.testing.assert_allclose(square, 0.001 * grad**2, rtol=1e-4, atol=1e-12, err_msg=name)
    assert step.state["step"].get_value() == 1


def test_automatic_choice_must_be_made_first(small):
    with pytest.raises(ValueError, match=r"no optimizer 'auto'; .* resolve a recipe"):
        small(optimizer="auto")


@pytest.mark.parametrize("optimizer", ["sgd", "adamw", "musgd"])
def test_accumulation(small, optimizer):
    """Two batches and a step; twice the same, in whatever way the batches come."""
    results = []
    for transfer in (False, True):
        step = small(2, optimizer=optimizer)
        start = values_of(step)
        for k in range(4):
            batch = step.transfer(random_batch(k)) if transfer else random_batch(k)
            parts, norm = step.run(batch, RATES, k % 2 == 1, k // 2, Recipe())
            assert (norm is None) == (k % 2 == 0)
            if k == 0:
                changed = {n for n, v in values_of(step).items() if (v != start[n]).any()}
                sums = {n for n in start if n.endswith("accumulated_gradient")}
                assert changed == {*sums, "model.0.bn.running_mean"}
        assert all(isinstance(part, jax.Array) for part in parts)
        results.append(values_of(step))
    assert_equal_values(*results)


def test_second_step_does_not_recompile(small):
    step = small(optimizer="musgd")
    for k in range(2):
        step.run(step.transfer(random_batch(k)), RATES, True, k, Recipe())
    events = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda event, seconds, **kwargs: events.append(event)
    )
    try:
        step.run(step.transfer(random_batch(2)), RATES, True, 2, Recipe())
    finally:
        jax.monitoring.clear_event_listeners()
    assert not [event for event in events if "compile" in event or "trace" in event]


def test_placing(small):
    placed, put = [], []

    def keep(arrays):
        put.append(arrays)
        return arrays

    step = small(place=placed.append, put=keep, mode="JAX")
    assert placed == [step.variables]
    assert {v.name for v in step.variables} >= {*step.model.store.all, *step.state}
    batch = random_batch(0)
    step.run(batch, RATES, True, 0, Recipe())
    expected = [batch.images, batch.boxes, batch.classes, batch.num_boxes]
    assert all(a is b for a, b in zip(put[0], expected, strict=True))
    step.run(step.transfer(batch), RATES, True, 1, Recipe())
    assert len(put) == 2
    step.place_variables()
    assert placed == [step.variables] * 2


# ------------------------------------------------------------------------------ images


@pytest.mark.usefixtures("float32_everywhere")
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_host_images(dtype):
    source = HostImages(SIZE, BATCH, dtype)
    assert source.shared == []
    assert [v.type.dtype for v in source.variables] == [dtype]
    assert source.images.type.dtype == "float32"
    assert source.images.type.shape == (BATCH, 3, SIZE, SIZE)
    pixels = random_batch(0).images
    batch = SimpleNamespace(images=pixels if dtype == "uint8" else (pixels / 255).astype(dtype))
    result = pytensor.function(source.variables, source.images, mode="JAX")(
        *source.arguments(batch)
    )
    np.testing.assert_allclose(result, pixels / 255, rtol=1e-6)


def test_other_images_are_refused():
    with pytest.raises(ValueError, match="uint8 or float32, not float64"):
        HostImages(SIZE, BATCH, "float64")


@pytest.fixture
def drawing(monkeypatch):
    """A module that draws an image by taking it as it is; its plan is the image's number."""
    module = ModuleType("device_augment")
    module.plan_variables = lambda batch_size: (
        pt.tensor("source", dtype="int32", shape=(batch_size,)),
    )

    def render_graph(squares, plan, image_size):
        images = squares[plan[0]].transpose(0, 3, 1, 2).astype("float32") / np.float32(255)
        return pt.specify_shape(images, (None, 3, image_size, image_size))

    module.render_graph = render_graph
    monkeypatch.setitem(sys.modules, "data.drawing", module)


def test_images_drawn_on_the_device_train_as_those_of_the_host(small, drawing, tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (5, SIZE, SIZE, 3), dtype=np.uint8)
    stored = np.memmap(tmp_path / "squares", np.uint8, "w+", shape=pixels.shape)
    stored[:] = pixels
    source = DeviceImages(stored, SIZE, BATCH)
    (squares,) = source.shared
    assert isinstance(squares.container.storage[0], jax.Array)

    results = []
    for images in (None, source):
        step = small(images=images)
        for k in range(2):
            chosen = np.array([k + 1, 2 * k], np.int32)
            batch = random_batch(k, plan=(chosen,))
            batch.images = np.ascontiguousarray(pixels[chosen].transpose(0, 3, 1, 2))
            step.run(batch, RATES, True, k, Recipe())
        results.append(values_of(step))
        assert ("squares" in results[-1]) == (images is source)
        assert "squares" not in step.state
    results[1].pop("squares")
    for name, value in results[0].items():
        np.testing.assert_allclose(value, results[1][name], rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.usefixtures("drawing")
@pytest.mark.parametrize(
    "squares",
    [np.zeros((4, SIZE, SIZE, 3), np.float32), np.zeros((4, 3, SIZE, SIZE), np.uint8)],
)
def test_other_data_sets_are_refused(squares):
    with pytest.raises(ValueError, match=r"squares must be uint8 \(images, 8, 8, 3\), not "):
        DeviceImages(squares, SIZE, BATCH)
