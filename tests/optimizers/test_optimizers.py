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


def adam(w, grad, steps, lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, decoupled=False):
    mean, square = np.zeros_like(w), np.zeros_like(w)
    for t in range(1, steps + 1):
        g = grad(w)
        if decoupled:
            w = w * (1 - lr * weight_decay)
        else:
            g = g + weight_decay * w
        mean = betas[0] * mean + (1 - betas[0]) * g
        square = betas[1] * square + (1 - betas[1]) * g**2
        unbiased_mean, unbiased_square = mean / (1 - betas[0] ** t), square / (1 - betas[1] ** t)
        w = w - lr * unbiased_mean / (np.sqrt(unbiased_square) + eps)
    return w


def amsgrad(w, grad, steps, lr, weight_decay=0.0):
    """Adam whose steps are divided by the root of the largest average of squares so far."""
    mean, square, largest = (np.zeros_like(w) for _ in range(3))
    for t in range(1, steps + 1):
        g = grad(w)
        w = w * (1 - lr * weight_decay)
        mean, square = 0.9 * mean + 0.1 * g, 0.5 * square + 0.5 * g**2
        largest = np.maximum(largest, square)
        w = w - lr * mean / (1 - 0.9**t) / (np.sqrt(largest / (1 - 0.5**t)) + 1e-8)
    return w


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


def nadam(w, grad, steps, lr, betas=(0.9, 0.999), weight_decay=0.0, decay=4e-3):
    mean, square, product = np.zeros_like(w), np.zeros_like(w), 1.0
    for t in range(1, steps + 1):
        g = grad(w) + weight_decay * w
        now, later = (betas[0] * (1 - 0.96 ** (k * decay) / 2) for k in (t, t + 1))
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

STEPS = [
    (SGD(0.1), sgd, {"lr": 0.1}),
    (SGD(0.1, weight_decay=0.2), sgd, {"lr": 0.1, "weight_decay": 0.2}),
    (SGD(0.05, momentum=0.9), sgd, {"lr": 0.05, "momentum": 0.9}),
    (
        SGD(0.05, momentum=0.9, nesterov=True, weight_decay=0.01),
        sgd,
        {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01},
    ),
    (Adam(0.1), adam, {"lr": 0.1}),
    (
        Adam(0.1, betas=(0.0, 0.9), epsilon=1e-3, weight_decay=0.1),
        adam,
        {"lr": 0.1, "betas": (0.0, 0.9), "eps": 1e-3, "weight_decay": 0.1},
    ),
    (AdamW(0.1), adam, {"lr": 0.1, "weight_decay": 0.01, "decoupled": True}),
    (AdamW(0.1, weight_decay=0.3), adam, {"lr": 0.1, "weight_decay": 0.3, "decoupled": True}),
    (RMSprop(0.01), rmsprop, {"lr": 0.01}),
    (
        RMSprop(0.01, alpha=0.9, momentum=0.8, centered=True, weight_decay=0.1),
        rmsprop,
        {"lr": 0.01, "alpha": 0.9, "momentum": 0.8, "centered": True, "weight_decay": 0.1},
    ),
    (Adam(0.3, betas=(0.9, 0.5), amsgrad=True), amsgrad, {"lr": 0.3}),
    (AdamW(0.3, (0.9, 0.5), amsgrad=True), amsgrad, {"lr": 0.3, "weight_decay": 0.01}),
    (NAdam(0.1, weight_decay=0.1), nadam, {"lr": 0.1, "weight_decay": 0.1}),
    (
        NAdam(0.1, (0.8, 0.9), momentum_decay=0.1),
        nadam,
        {"lr": 0.1, "betas": (0.8, 0.9), "decay": 0.1},
    ),
    (Lion(0.1), lion, {"lr": 0.1}),
    (
        Lion(0.1, (0.8, 0.9), weight_decay=0.2),
        lion,
        {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.2},
    ),
    (Adagrad(0.5, weight_decay=0.1), adagrad, {"lr": 0.5, "weight_decay": 0.1}),
]
STEP_IDS = [f"{type(case[0]).__name__}-{i}" for i, case in enumerate(STEPS)]


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


def fresh(optimizer):
    """Return the optimizer without its state."""
    copy = type(optimizer).__new__(type(optimizer))
    copy.__dict__.update(optimizer.__dict__, state={}, _owners={})
    return copy


@pytest.mark.parametrize(("optimizer", "reference", "settings"), STEPS, ids=STEP_IDS)
def test_steps_are_those_of_the_formula(optimizer, reference, settings):
    actual = train(fresh(optimizer), "float64", 5, "FAST_COMPILE")
    expected = reference(START, lambda w: 2 * SCALE * w, 5, **settings)
    np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-15)


# The same five steps as PyTorch 2.13 takes them in float64.
PYTORCH = {
    "SGD-2": [-0.02916, -1.2657930434, -0.29021, 2.6149020777, -0.05218, -0.2232458253],
    "SGD-3": [
        *(-0.1076958362129725, -1.0944787485694494, -0.20802169377561272),
        *(2.492130811329283, -0.0010558338928932567, -0.1157828598917254),
    ],
    "Adam-4": [
        *(0.5079636592643418, -1.5029557843236176, 0.027814448790542026),
        *(2.5017794639254634, -0.010852073378412631, -0.5079636604055757),
    ],
    "Adam-5": [
        *(0.5527120778135213, -1.5248513486867878, 0.11794132359066867),
        *(2.5164965936775814, 6.414812278959076e-05, -0.552794546107888),
    ],
    "AdamW-6": [
        *(0.5040800900879451, -1.4940456970853695, 0.026528199279084633),
        *(2.4878693172685695, -0.010659424633189134, -0.5040800912276266),
    ],
    "AdamW-7": [
        *(0.39926380734775835, -1.2518651948303217, -0.007205290173551468),
        *(2.1091107942941734, -0.005389206094830366, -0.39926380844214915),
    ],
    "RMSprop-8": [
        *(0.6964657887382079, -1.6854815958964053, 0.2215709911085929),
        *(2.682053875587452, 1.569354190732105e-16, -0.6964657932565617),
    ],
    "RMSprop-9": [
        *(0.7090494358427407, -1.7041121170620863, 0.2202062778762608),
        *(2.702556044170502, -0.05920127040678032, -0.7090494373227136),
    ],
    "NAdam-12": [
        *(0.6236628907255833, -1.6084596269500429, 0.15963906921028553),
        *(2.6037987519892196, -0.003671013601949171, -0.6236628914401139),
    ],
    "NAdam-13": [
        *(0.5788254799864535, -1.5614275664828177, 0.12238598909786522),
        *(2.5562290999990323, -0.0026016057674465966, -0.578825480899695),
    ],
    "Adagrad-16": [
        *(0.05089130425073835, -0.6827902184903236, 1.381016329738678e-52),
        *(1.5696397290171722, -0.0005570341467611064, -0.050891304255200574),
    ],
}


@pytest.mark.by_default("SGD-2", "SGD-3", "Adam-4", "Adam-5", "AdamW-6", "RMSprop-8", "RMSprop-9")
@pytest.mark.parametrize("case", PYTORCH)
def test_steps_are_those_of_pytorch(case):
    optimizer = fresh(STEPS[STEP_IDS.index(case)][0])
    actual = train(optimizer, "float64", 5, "FAST_COMPILE")
    rtol = 1e-7 if "NAdam" in case else 1e-11  # PyTorch's product of momenta is float32
    np.testing.assert_allclose(actual.ravel(), PYTORCH[case], rtol=rtol, atol=1e-15)


@pytest.mark.by_default("SGD-1", "SGD-2", "SGD-3", "RMSprop-8", "Adam-10", "AdamW-11")
@pytest.mark.usefixtures("float32_everywhere")
@pytest.mark.parametrize(("optimizer", "reference", "settings"), STEPS, ids=STEP_IDS)
def test_float32_in_jax(optimizer, reference, settings):
    actual = train(fresh(optimizer), "float32", 5, "JAX")
    expected = reference(START, lambda w: 2 * SCALE * w, 5, **settings)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("floatX", ["float32", "float64"])
@pytest.mark.parametrize("optimizer", [case[0] for case in STEPS], ids=STEP_IDS)
def test_float32_stays_float32(optimizer, floatX):
    with pytensor.config.change_flags(floatX=floatX):
        w, cost = quadratic("float32")
        updates = fresh(optimizer).get_updates([w], pytensor.grad(cost, [w]))
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
    *(SGD(0.01, momentum=0.9, weight_decay=1e-3), Adam(), AdamW(), Adam(amsgrad=True), RMSprop()),
    *(RMSprop(momentum=0.9), RMSprop(centered=True), Muon(weight_decay=1e-3), MuSGD(0.01)),
]


@pytest.mark.parametrize("optimizer", WITH_STATE)
def test_half_precision_has_wide_state(optimizer):
    """Small squares are 0 in float16, and so is epsilon: 0 / 0 was NaN."""
    steps = []
    for dtype in ("float16", "float32"):
        w = pytensor.shared(np.ones((2, 2), dtype), name="w")
        gradient = np.array([[0, 1e-3], [1, -2]], dtype)
        again = fresh(optimizer)
        updates = again.get_updates([w], [pt.constant(gradient)])
        assert [v.type.dtype for v in updates] == [v.type.dtype for v in updates.values()]
        assert {v.type.dtype for k, v in again.state.items() if k != "step"} == {"float32"}
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
    again = fresh(optimizer)
    updates = again.get_updates([w], [pt.constant(gradient)])
    step = pytensor.function([], [], updates=updates, mode="FAST_COMPILE")
    for _ in range(1000):
        step()
    share = 1 - 0.999**1000
    expected = {"momentum_buffer": share / 0.001, "gradient_average": share}
    for name, state in again.state.items():
        factor = expected[name.removeprefix("w.")]
        np.testing.assert_allclose(state.get_value(), gradient * factor, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", WITH_STATE)
def test_zero_gradients_trouble_no_rewrite(optimizer):
    w = pytensor.shared(np.ones((2, 3)), name="w")
    updates = fresh(optimizer).get_updates([w], [pt.zeros((2, 3))])
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
        lambda: RMSprop(alpha=1.0),
    ],
)
def test_hyperparameters_out_of_range(build):
    with pytest.raises(ValueError, match=r"must be|needs a momentum"):
        build()


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
    with pytest.raises(ValueError, match="w has two different updates"):
        updates |= {w: w + 2.0}
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
    ids=["made of pairs", "merged", "updated", "joined in place", "joined to a dict"],
)
def test_two_updates_of_one_variable_are_refused(join):
    with pytest.raises(ValueError, match="w has two different updates"):
        join([(w, w + 1.0), (w, w + 2.0)])
