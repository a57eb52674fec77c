from functools import partial
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor import layers
from pytensor.compile.mode import Mode
from pytensor.optimizers import (
    SGD,
    Adagrad,
    Adam,
    AdamW,
    ExponentialMovingAverage,
    Lion,
    Muon,
    MuSGD,
    NAdam,
    RMSprop,
    merge_updates,
    schedules,
)
from pytensor.optimizers.updates import OrderedUpdates
from tests.utils import dtypes_of, no_compilation


def sgd(w, grad, steps, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
    buffer = np.zeros_like(w)
    for _ in range(steps):
        g = grad(w) + weight_decay * w
        buffer = momentum * buffer + g
        w = w - lr * (g + momentum * buffer if nesterov else buffer)
    return w


def adam(
    w, grad, steps, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False,
    amsgrad=False,
):  # fmt: skip
    mean, square, largest = (np.zeros_like(w) for _ in range(3))
    for t in range(1, steps + 1):
        g = grad(w)
        if decoupled:
            w = w * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * w
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g**2
        largest = np.maximum(largest, square) if amsgrad else square
        unbiased_mean, unbiased_square = mean / (1 - betas[0] ** t), largest / (1 - betas[1] ** t)
        w = w - lr * unbiased_mean / (np.sqrt(unbiased_square) + eps)
    return w


def adamw(w, grad, steps, lr, weight_decay=0.01, **settings):
    return adam(w, grad, steps, lr, weight_decay=weight_decay, decoupled=True, **settings)


def rmsprop(
    w, grad, steps, lr, alpha=0.99, eps=1e-8, momentum=0.0, centered=False, weight_decay=0.0
):
    square, mean, buffer = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w)
    for _ in range(steps):
        g = grad(w) + weight_decay * w
        square = alpha * square + (1 - alpha) * g**2
        mean = alpha * mean + (1 - alpha) * g
        variance = square - mean**2 if centered else square
        buffer = momentum * buffer + g / (np.sqrt(variance) + eps)
        w = w - lr * buffer
    return w


def nadam(w, grad, steps, lr, betas=(0.9, 0.999), weight_decay=0.0, momentum_decay=4e-3):
    mean, square, product = np.zeros_like(w), np.zeros_like(w), 1.0
    for t in range(1, steps + 1):
        g = grad(w) + weight_decay * w
        now, later = (betas[0] * (1 - 0.96 ** (k * momentum_decay) / 2) for k in (t, t + 1))
        product *= now
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g**2
        root = np.sqrt(square / (1 - betas[1] ** t)) + 1e-8
        w = w - lr * (1 - now) / (1 - product) * g / root
        w = w - lr * later / (1 - product * later) * mean / root
    return w


def lion(w, grad, steps, lr, betas=(0.9, 0.99), weight_decay=0.0):
    mean = np.zeros_like(w)
    for _ in range(steps):
        g = grad(w)
        w = (1 - lr * weight_decay) * w - lr * np.sign(betas[0] * mean + (1 - betas[0]) * g)
        mean = betas[1] * mean + (1 - betas[1]) * g
    return w


def adagrad(w, grad, steps, lr, weight_decay=0.0):
    total = np.zeros_like(w)
    for _ in range(steps):
        g = grad(w) + weight_decay * w
        total = total + g**2
        w = w - lr * g / (np.sqrt(total) + 1e-10)
    return w


START = np.array([[1.0, -2.0, 0.5], [3.0, 0.1, -1.0]])
SCALE = np.array([[1.0, 0.3, 2.0], [0.1, 5.0, 0.7]])

REFERENCES = {
    SGD: sgd, Adam: adam, AdamW: adamw, RMSprop: rmsprop, NAdam: nadam, Lion: lion,
    Adagrad: adagrad,
}  # fmt: skip
STEPS = [
    (SGD, {"lr": 0.1}),
    (SGD, {"lr": 0.1, "weight_decay": 0.2}),
    (SGD, {"lr": 0.05, "momentum": 0.9}),
    (SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    (Adam, {"lr": 0.1}),
    (Adam, {"lr": 0.1, "betas": (0.0, 0.9), "eps": 1e-3, "weight_decay": 0.1}),
    (AdamW, {"lr": 0.1}),
    (AdamW, {"lr": 0.1, "weight_decay": 0.3}),
    (RMSprop, {"lr": 0.01}),
    (RMSprop, {"lr": 0.01, "alpha": 0.9, "momentum": 0.8, "centered": True, "weight_decay": 0.1}),
    (Adam, {"lr": 0.3, "betas": (0.9, 0.5), "amsgrad": True}),
    (AdamW, {"lr": 0.3, "betas": (0.9, 0.5), "amsgrad": True}),
    (NAdam, {"lr": 0.1, "weight_decay": 0.1}),
    (NAdam, {"lr": 0.1, "betas": (0.8, 0.9), "momentum_decay": 0.1}),
    (Lion, {"lr": 0.1}),
    (Lion, {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.2}),
    (Adagrad, {"lr": 0.5, "weight_decay": 0.1}),
]
STEP_IDS = [f"{kind.__name__}-{k}" for k, (kind, _) in enumerate(STEPS)]


def quadratic(dtype, name="w"):
    w = pytensor.shared(START.astype(dtype), name=name, shape=START.shape)
    cost = pt.sum(pt.constant(SCALE.astype(dtype)) * pt.sqr(w), acc_dtype=dtype)
    return w, cost


def train(optimizer, dtype, steps, mode):
    w, cost = quadratic(dtype)
    updates = optimizer.get_updates([w], pytensor.grad(cost, [w]))
    step = pytensor.function([], [], updates=updates, mode=mode)
    for _ in range(steps):
        step()
    return np.asarray(w.get_value())


@pytest.mark.parametrize(("kind", "settings"), STEPS, ids=STEP_IDS)
def test_steps_are_those_of_the_formula(kind, settings):
    actual = train(kind(**settings), "float64", 5, "FAST_COMPILE")
    expected = REFERENCES[kind](START, lambda w: 2 * SCALE * w, 5, **settings)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-15)


# The same five steps as PyTorch 2.13 takes them in float64.
PYTORCH = {
    "SGD-2": [-0.02916, -1.26579304, -0.29021, 2.61490208, -0.05218, -0.223245825],
    "SGD-3": [-0.107695836, -1.09447875, -0.208021694, 2.49213081, -0.00105583389, -0.11578286],
    "Adam-4": [0.507963659, -1.50295578, 0.0278144488, 2.50177946, -0.0108520734, -0.50796366],
    "Adam-5": [0.552712078, -1.52485135, 0.117941324, 2.51649659, 6.41481228e-05, -0.552794546],
    "AdamW-6": [0.50408009, -1.4940457, 0.0265281993, 2.48786932, -0.0106594246, -0.504080091],
    "AdamW-7": [0.399263807, -1.25186519, -0.00720529017, 2.10911079, -0.00538920609, -0.399263808],
    "RMSprop-8": [0.696465789, -1.6854816, 0.221570991, 2.68205388, 0, -0.696465793],
    "RMSprop-9": [0.709049436, -1.70411212, 0.220206278, 2.70255604, -0.0592012704, -0.709049437],
    "NAdam-12": [0.623662891, -1.60845963, 0.159639069, 2.60379875, -0.0036710136, -0.623662891],
    "NAdam-13": [0.57882548, -1.56142757, 0.122385989, 2.5562291, -0.00260160577, -0.578825481],
    "Adagrad-16": [0.0508913043, -0.682790218, 0, 1.56963973, -0.000557034147, -0.0508913043],
}


@pytest.mark.by_default("SGD-2", "SGD-3", "Adam-4", "Adam-5", "AdamW-6", "RMSprop-8", "RMSprop-9")
@pytest.mark.parametrize("case", PYTORCH)
def test_steps_are_those_of_pytorch(case):
    kind, settings = STEPS[STEP_IDS.index(case)]
    actual = train(kind(**settings), "float64", 5, "FAST_COMPILE")
    np.testing.assert_allclose(actual.ravel(), PYTORCH[case], rtol=1e-7, atol=1e-14)


@pytest.mark.by_default("SGD-1", "SGD-2", "SGD-3", "RMSprop-8", "Adam-10", "AdamW-11")
@pytest.mark.usefixtures("float32_everywhere")
@pytest.mark.parametrize(("kind", "settings"), STEPS, ids=STEP_IDS)
def test_float32_in_jax(kind, settings):
    actual = train(kind(**settings), "float32", 5, "JAX")
    expected = REFERENCES[kind](START, lambda w: 2 * SCALE * w, 5, **settings)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("floatX", ["float32", "float64"])
@pytest.mark.parametrize(("kind", "settings"), STEPS, ids=STEP_IDS)
def test_float32_stays_float32(kind, settings, floatX):
    with pytensor.config.change_flags(floatX=floatX):
        w, cost = quadratic("float32")
        updates = kind(**settings).get_updates([w], pytensor.grad(cost, [w]))
    assert "float64" not in dtypes_of(updates.values())
    assert all(new.type.dtype == variable.type.dtype for variable, new in updates.items())


@pytest.mark.slow
def test_default_mode():
    optimizer = SGD(0.05, momentum=0.9, nesterov=True, weight_decay=0.01)
    expected = sgd(START, lambda w: 2 * SCALE * w, 3, 0.05, 0.9, True, 0.01)
    np.testing.assert_allclose(train(optimizer, "float64", 3, None), expected, rtol=1e-12)


def test_second_step_does_not_recompile():
    w, cost = quadratic("float32")
    lr = pytensor.shared(np.float32(0.1), name="lr")
    updates = Adam(lr).get_updates([w], pytensor.grad(cost, [w]))
    step = pytensor.function([], cost, updates=updates, mode="JAX")
    step()
    with no_compilation():
        for rate in (0.1, 0.05):
            lr.set_value(np.float32(rate))
            step()
    assert isinstance(w.get_value(borrow=True, return_internal_type=True), jax.Array)


def test_symbolic_hyperparameters():
    lr, momentum, decay = pt.scalars("lr", "momentum", "decay")
    w, cost = quadratic("float32")
    optimizer = SGD(lr, momentum=momentum, nesterov=True, weight_decay=decay)
    updates = optimizer.get_updates([w], pytensor.grad(cost, [w]))
    assert updates[w].type.dtype == "float32"
    step = pytensor.function([lr, momentum, decay], [], updates=updates, mode="FAST_COMPILE")
    step(0.1, 0.8, 0.01)
    expected = sgd(START, lambda w: 2 * SCALE * w, 1, 0.1, 0.8, True, 0.01)
    np.testing.assert_allclose(w.get_value(), expected, rtol=1e-5)


def test_state():
    w, cost = quadratic("float32", name="model.0.conv.weight")
    optimizer = SGD(0.1, momentum=0.9)
    grads = pytensor.grad(cost, [w])
    updates = optimizer.get_updates([w], grads)
    assert list(optimizer.state) == ["model.0.conv.weight.momentum_buffer"]
    (buffer,) = optimizer.state.values()
    assert buffer.name == "model.0.conv.weight.momentum_buffer"
    assert buffer.type == w.type
    assert set(updates) == {w, buffer}
    assert set(optimizer.get_updates([w], grads)) == {w, buffer}  # the same state again

    adam = Adam()
    adam.get_updates([w], grads)
    assert [name.rpartition(".")[2] for name in adam.state] == ["exp_avg", "exp_avg_sq", "step"]
    assert not SGD(0.1).state


def test_training_resumes_from_state():
    def build():
        w, cost = quadratic("float64")
        optimizer = Adam(0.1)
        updates = optimizer.get_updates([w], pytensor.grad(cost, [w]))
        return w, optimizer, pytensor.function([], [], updates=updates, mode="FAST_COMPILE")

    w, optimizer, step = build()
    for _ in range(4):
        step()
    saved = {name: value.get_value() for name, value in {**optimizer.state, "w": w}.items()}
    step()

    resumed, other, other_step = build()
    for name, value in {**other.state, "w": resumed}.items():
        value.set_value(saved[name])
    other_step()
    np.testing.assert_array_equal(resumed.get_value(), w.get_value())


def test_groups():
    w, b, c = (pytensor.shared(np.ones(2), name=name) for name in "wbc")
    bias_rate = pytensor.shared(np.array(0.5), name="bias_rate")
    optimizer = SGD(0.1, weight_decay=1.0)
    updates = optimizer.get_updates(
        [w, b, c],
        [pt.ones(2)] * 3,
        groups=[{"params": [b, c], "weight_decay": 0.0, "learning_rate": bias_rate}],
    )
    pytensor.function([], [], updates=updates, mode="FAST_COMPILE")()
    np.testing.assert_allclose(w.get_value(), 0.8)
    np.testing.assert_allclose(b.get_value(), 0.5)
    np.testing.assert_allclose(c.get_value(), 0.5)


WITH_STATE = [
    partial(SGD, 0.01, momentum=0.9, weight_decay=1e-3), Adam, AdamW, partial(Adam, amsgrad=True),
    RMSprop, partial(RMSprop, momentum=0.9), partial(RMSprop, centered=True),
    partial(Muon, weight_decay=1e-3), partial(MuSGD, 0.01),
]  # fmt: skip


@pytest.mark.parametrize("make", WITH_STATE)
def test_half_precision_has_wide_state(make):
    """Small squares are 0 in float16, and so is epsilon: 0 / 0 was NaN."""
    steps = []
    for dtype in ("float16", "float32"):
        w = pytensor.shared(np.ones((2, 2), dtype), name="w")
        gradient = np.array([[0, 1e-3], [1, -2]], dtype)
        optimizer = make()
        updates = optimizer.get_updates([w], [pt.constant(gradient)])
        assert [v.type.dtype for v in updates] == [v.type.dtype for v in updates.values()]
        assert {v.type.dtype for k, v in optimizer.state.items() if k != "step"} == {"float32"}
        step = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
        step(), step()
        steps.append(w.get_value())
    np.testing.assert_allclose(*steps, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer", [SGD(1e-6, momentum=0.999), Muon(1e-6, momentum=0.999), MuSGD(1e-6, 0.999)]
)
def test_sums_of_half_precision_do_not_stand_still(optimizer):
    w = pytensor.shared(np.zeros((2, 2), "float16"), name="w")
    gradient = np.array([[0.01, -0.02], [0.005, 0]], "float16")
    updates = optimizer.get_updates([w], [pt.constant(gradient)])
    step = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    for _ in range(1000):
        step()
    share = 1 - 0.999**1000
    expected = {"momentum_buffer": share / 0.001, "gradient_average": share}
    for name, state in optimizer.state.items():
        factor = expected[name.removeprefix("w.")]
        np.testing.assert_allclose(state.get_value(), gradient * factor, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("make", WITH_STATE)
def test_zero_gradients_trouble_no_rewrite(make):
    w = pytensor.shared(np.ones((2, 3)), name="w")
    updates = make().get_updates([w], [pt.zeros((2, 3))])
    with pytensor.config.change_flags(on_opt_error="raise"):
        step = pytensor.function([], [], updates=updates, mode=Mode("py", "fast_run"))
    step()
    assert np.isfinite(w.get_value()).all()


def test_float32_gradient_of_float16_parameter_is_not_rounded():
    w = pytensor.shared(np.zeros(1, "float16"), name="w")
    updates = SGD(1e-6).get_updates([w], [pt.constant(np.array([1e5], "float32"))])
    np.testing.assert_allclose(updates[w].eval(mode="FAST_COMPILE"), [-0.1], rtol=1e-3)


def test_float64_gradient_of_float32_parameter():
    w = pytensor.shared(np.ones(2, dtype="float32"), name="w")
    updates = SGD(0.1).get_updates([w], [pt.dvector()])
    assert updates[w].type.dtype == "float32"


w = pytensor.shared(np.ones(2), name="w")
namesake = pytensor.shared(np.ones(2), name="w")
integer = pytensor.shared(np.ones(2, dtype="int64"), name="integer")
ones = pt.ones(2)
unrelated = pytensor.grad(
    pt.sum(w), [namesake], return_disconnected="disconnected", disconnected_inputs="ignore"
)


@pytest.mark.parametrize(
    ("params", "grads", "groups", "message"),
    [
        ([w], [ones, ones], (), "1 params and 2 grads"),
        ([w], [None], (), "parameter w has no gradient"),
        ([namesake], unrelated, (), "parameter w has no gradient"),
        ([w], [pt.ones((2, 2))], (), "the gradient of parameter w has type"),
        ([w, w], [ones, ones], (), "w is listed twice in params"),
        ([w, namesake], [ones, ones], (), "two parameters are called 'w'"),
        ([w], [ones], [{"params": [namesake]}], "not in params"),
        ([w], [ones], [{"params": [w]}, {"params": [w]}], "listed twice in groups"),
        ([w], [ones], [{"weight_decay": 0.0}], 'the key "params"'),
        ([w], [ones], [{"params": [w], "beta": 1}], "sets 'beta'; SGD has learning_rate, "),
        ([w], [ones], [{"params": [w], "momentum": -1}], "must be at least 0"),
        ([w], [pt.ones(1)], (), "the gradient of parameter w has type"),  # would be repeated
        ([w], [ones], [{"params": [w], "lr": 1, "learning_rate": 2}], "the learning rate twice"),
    ],
)
def test_values_that_do_not_fit(params, grads, groups, message):
    with pytest.raises(ValueError, match=message):
        SGD(0.1).get_updates(params, grads, groups=groups)


@pytest.mark.parametrize(
    ("params", "grads", "groups", "message"),
    [
        (w, [ones], (), r"write \[w\]"),
        (pt.sum(w), [w], (), r"write get_updates\(params, pytensor.grad\(loss, params\)\)"),
        ([w], ones, (), "one gradient per parameter"),
        ([pt.vector()], [ones], (), "must be a shared tensor"),
        ([integer], [ones], (), "parameter integer has dtype int64"),
        ([w], [ones], {"params": [w]}, r"write \[group\]"),
        ([w], [ones], [{"params": [w], "learning_rate": "fast"}], "a number or a symbolic"),
        ([w], [ones], [{"params": [w], "learning_rate": pt.vector()}], "a number or a symbolic"),
        ([w], [ones], [{"params": [w], "lr": lambda step: None}], "symbolic scalar, not None"),
    ],
)
def test_types_that_do_not_fit(params, grads, groups, message):
    with pytest.raises(TypeError, match=message):
        SGD(0.1).get_updates(params, grads, groups=groups)


@pytest.mark.parametrize(
    "build",
    [
        lambda: SGD(-0.1),
        lambda: SGD(float("nan")),
        lambda: SGD(0.1, nesterov=True),
        lambda: Adam(betas=(0.9, 1.0)),
        lambda: Adam(betas=(0.9,)),
        lambda: Adam(betas=0.9),
        lambda: RMSprop(alpha=1.0),
    ],
)
def test_hyperparameters_out_of_range(build):
    with pytest.raises(ValueError, match=r"must be|needs a momentum"):
        build()


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (SGD, (0.1, 0.9, 0.5)),
        (MuSGD, (0.1, 0.9, 0.5)),
        (RMSprop, (0.1, 0.9, 1e-8, 1e-4)),
        (Adagrad, (0.1, 0.5)),
        (Muon, (0.1, 0.01)),
    ],
)
def test_positions_that_differ_from_torch_are_refused(kind, arguments):
    kind(*arguments[:-1])
    with pytest.raises(TypeError, match="positional arguments"):
        kind(*arguments)


def test_minimize_is_a_step_down_the_gradient():
    count = pytensor.shared(0, name="count")
    for parameters in ([w], type("Module", (), {"parameters": lambda self: [w]})()):
        optimizer = SGD(lr=0.5)
        updates = optimizer.minimize(pt.sum(w**2), parameters, updates={count: count + 1})
        assert [*updates] == [count, w]
        (new,) = pytensor.function([], [updates[w]], mode="FAST_COMPILE")()
        np.testing.assert_allclose(new, w.get_value() - 0.5 * 2 * w.get_value())
    with pytest.raises(ValueError, match="w has two different updates"):
        SGD(0.1).minimize(pt.sum(w**2), [w], {w: w + 1})
    with pytest.raises(TypeError, match=r"write \[w\]"):
        SGD(0.1).minimize(pt.sum(w**2), w)
    with pytest.raises(TypeError, match="the loss must be floating point, got int64"):
        SGD(0.1).minimize(pt.sum(w > 0), [w])  # has gradients of zeros
    for nothing in ([], layers.Dropout(), layers.Linear(2, 2).frozen()):
        with pytest.raises(ValueError, match="nothing to train"):
            SGD(0.1).minimize(pt.sum(w**2), nothing)


def test_parameters_may_be_a_dict_with_constants():
    values = {"w": w, "scale": pt.constant(2.0)}
    mean = pytensor.shared(np.ones(2), name="mean")
    model = SimpleNamespace(parameters=values | {"mean": mean}, updates={mean: w})
    for parameters in (model, values):
        assert [*SGD(0.1).minimize(pt.sum(w**2), parameters)] == [w]
    with pytest.raises(ValueError, match=r"params has only constants; .*trainable=True"):
        SGD(0.1).minimize(pt.sum(w**2), {"scale": pt.constant(2.0)})


@pytest.mark.parametrize("how", [{}, {"lr": 0.1}])
@pytest.mark.parametrize("first", [[w], {"w": w}, layers.Linear(1, 1)])
def test_parameters_go_to_minimize(first, how):
    with pytest.raises(TypeError, match=r"the parameters go to minimize\(loss, parameters\)"):
        AdamW(first, **how)


def test_updates_of_the_loss_may_not_be_forgotten():
    net, x = layers.Sequential(layers.Linear(2, 2), layers.BatchNorm(2)), pt.matrix("x")
    dropout = layers.Dropout()
    features = net(x)
    with layers.training() as updates:
        loss = net(x).sum()
        with pytest.raises(ValueError, match=r"running_mean.*as updates.*minimize\(loss, net, upd"):
            SGD(0.1).minimize(loss, net)
    with layers.training() as of_dropout:
        noisy = dropout(features).sum()
    with pytest.raises(ValueError, match="rng"):
        SGD(0.1).minimize(noisy, net, updates)
    SGD(0.1).minimize(loss, net, updates)
    SGD(0.1).minimize(noisy, net, of_dropout.items())
    SGD(0.1).minimize(features.sum(), net)
    with layers.training():  # float16: the new statistics are cast
        half = net[1](x.astype("float16")).sum()
    with pytest.raises(ValueError, match="running_mean"):
        SGD(0.1).minimize(half, net[1])


def test_lr_is_the_learning_rate():
    for kind in (Adagrad, Adam, AdamW, Lion, Muon, MuSGD, NAdam, RMSprop, SGD):
        assert kind(lr=0.3).defaults == kind(0.3).defaults
        with pytest.raises(TypeError, match="two names of one number"):
            kind(0.3, lr=0.3)
    for kind in (Adagrad, Adam, AdamW, NAdam, RMSprop):
        assert kind(eps=0.3).epsilon == kind(epsilon=0.3).epsilon == 0.3
        with pytest.raises(TypeError, match="epsilon and eps are two names of one number"):
            kind(epsilon=0.3, eps=0.3)
    for kind in (SGD, MuSGD):
        with pytest.raises(TypeError, match="give a learning rate"):
            kind()
    updates = SGD(0.1).get_updates([w], [ones], groups=[{"params": [w], "lr": 0.5}])
    (new,) = pytensor.function([], [updates[w]], mode="FAST_COMPILE")()
    np.testing.assert_allclose(new, w.get_value() - 0.5)


@pytest.mark.parametrize("floatX", ["float32", "float64"])
def test_schedules_follow_the_steps_taken(floatX):
    rates = schedules.linear(10, initial=0.1)
    with pytensor.config.change_flags(floatX=floatX):
        v = pytensor.shared(np.zeros(2, "float32"), name="v")
        groups = [{"params": [v], "learning_rate": rates, "weight_decay": schedules.constant(0)}]
        optimizer = SGD(rates)
        updates = optimizer.get_updates([w, v], [ones, pt.ones(2, "float32")], groups)
    assert "float64" not in dtypes_of([updates[v]])
    assert [*optimizer.state] == ["step"]
    before = w.get_value()
    step = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    for _ in range(3):
        step()
    moved, moved_too = before - w.get_value(), v.get_value()
    w.set_value(before)
    np.testing.assert_allclose(moved, sum(map(rates, range(3))))
    np.testing.assert_allclose(moved_too, -sum(map(rates, range(3))), rtol=1e-6)


def test_averages_of_an_expression_are_refused():
    with pytest.raises(TypeError, match="a sequence of shared variables, not Sum"):
        ExponentialMovingAverage(pt.sum(w), 0.9)


def test_another_parameter_of_the_same_name():
    optimizer = SGD(0.1, momentum=0.9)
    optimizer.get_updates([w], [ones])
    with pytest.raises(ValueError, match="another parameter called 'w'"):
        optimizer.get_updates([namesake], [ones])


def test_unnamed_parameters_are_called_by_position():
    optimizer = SGD(0.1, momentum=0.9)
    optimizer.get_updates([w, pytensor.shared(np.ones(2))], [ones, ones])
    assert list(optimizer.state) == ["w.momentum_buffer", "param_1.momentum_buffer"]


def test_ordered_updates():
    new_w, new_i = w + 1.0, integer + 1
    updates = merge_updates({w: new_w}, [(integer, new_i)], OrderedUpdates({w: new_w}))
    assert list(updates.items()) == [(w, new_w), (integer, new_i)]
    assert updates | {} == updates
    with pytest.raises(ValueError, match="w has two different updates"):
        updates[w] = w + 2.0
    with pytest.raises(TypeError, match="is not a shared variable"):
        OrderedUpdates({pt.vector("x"): w})


@pytest.mark.parametrize(
    "join",
    [
        OrderedUpdates,
        merge_updates,
        OrderedUpdates().update,
        OrderedUpdates().__ior__,
        lambda pairs: dict(pairs[:1]) | OrderedUpdates(pairs[1:]),
    ],
)
def test_two_updates_of_one_variable_are_refused(join):
    with pytest.raises(ValueError, match="w has two different updates"):
        join([(w, w + 1.0), (w, w + 2.0)])
