"""Muon: what its iteration does to singular values, and its steps against NumPy's."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.graph.traversal import ancestors
from pytensor.optimizers import Muon, MuSGD, orthogonalize
from tests.utils import dtypes_of

SHAPES = [(5, 8), (8, 5), (6, 2, 3, 3), (40, 1, 3, 3), (7, 3, 2)]


def polynomial(s):
    """Take five steps of the iteration on singular values that are at most 1."""
    for _ in range(5):
        s = 3.4445 * s - 4.7750 * s**3 + 2.0315 * s**5
    return s


def orthogonalized(x):
    """Orthogonalize by a singular value decomposition."""
    u, s, vt = np.linalg.svd(x.reshape(len(x), -1), full_matrices=False)
    return ((u * polynomial(s / np.linalg.norm(s))) @ vt).reshape(x.shape)


def muon(w, grads, lr, momentum=0.95, nesterov=True, weight_decay=0.0):
    average = np.zeros_like(w)
    for grad in grads:
        average = momentum * average + (1 - momentum) * grad
        direction = momentum * average + (1 - momentum) * grad if nesterov else average
        w = (1 - lr * weight_decay) * w - lr * orthogonalized(direction)
    return w


def gradients(shapes=SHAPES, steps=3):
    rng = np.random.default_rng(0)
    return [[rng.normal(size=shape) for shape in shapes] for _ in range(steps)]


def train(optimizer, dtype, mode, shapes=SHAPES, steps=3):
    """Return parameters after some steps along given gradients, from ones."""
    params = [
        pytensor.shared(np.ones(shape, dtype), name=f"w{k}", shape=shape)
        for k, shape in enumerate(shapes)
    ]
    grads = [p.type(name=f"g{k}") for k, p in enumerate(params)]
    updates = optimizer.get_updates(params, grads)
    step = pytensor.function(grads, [], updates=updates, mode=mode)
    for values in gradients(shapes, steps):
        step(*(v.astype(dtype) for v in values))
    return [np.asarray(p.get_value()) for p in params]


def test_singular_values_come_near_one():
    values = np.concatenate([np.geomspace(1 / 600, 1, 10_000), [1.0]])
    assert polynomial(values).min() > 0.68
    assert polynomial(values).max() < 1.21

    rng = np.random.default_rng(1)
    x = pt.tensor3("x", shape=(3, 6, 10))
    flat = pytensor.function([x], orthogonalize(x), mode="FAST_COMPILE")
    matrices = rng.normal(size=(3, 6, 10)) * np.array([1e-3, 1.0, 1e3])[:, None, None]
    for matrix, result in zip(matrices, flat(matrices), strict=True):
        u, s, vt = np.linalg.svd(matrix, full_matrices=False)
        assert s.max() > 2 * s.min()
        inner = u.T @ result @ vt.T  # the same singular vectors: diagonal
        np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-6)
        assert (np.diag(inner) > 0.68).all()
        assert (np.diag(inner) < 1.21).all()


@pytest.mark.by_default("shape0", "shape1")
@pytest.mark.parametrize("shape", [(12, 5), (None, None), (12, None)])
def test_tall_matrices_are_transposed_wide_ones(shape):
    x = pt.matrix("x", shape=shape)
    step = pytensor.function([x], orthogonalize(x), mode="FAST_COMPILE")
    matrix = np.random.default_rng(2).normal(size=(12, 5))
    np.testing.assert_allclose(step(matrix), orthogonalized(matrix), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(step(matrix), orthogonalized(matrix.T).T, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(step(np.zeros((12, 5))), 0)


def test_the_smaller_products_are_computed():
    """12 rows of 5: the Gram matrices are 5 x 5."""
    x = pt.matrix("x", shape=(12, 5))
    shapes = {v.type.shape for v in ancestors([orthogonalize(x)]) if hasattr(v.type, "shape")}
    assert (5, 5) in shapes
    assert (12, 12) not in shapes


@pytest.mark.by_default("settings2")
@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"lr": 0.1},
        {"lr": 0.05, "momentum": 0.8, "nesterov": False, "weight_decay": 0.3},
        {"lr": 0.1, "momentum": 0.0},
    ],
)
def test_steps_are_those_of_the_formula(settings):
    actual = train(Muon(**settings), "float64", "FAST_COMPILE")
    for k, value in enumerate(actual):
        expected = muon(np.ones(SHAPES[k]), [grads[k] for grads in gradients()], **settings)
        # The norm has 1e-7 added, of a norm of about 0.3 at first.
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("float32_everywhere")
def test_float32_in_jax():
    shapes = SHAPES[1:3]
    expected = train(Muon(0.1), "float32", "FAST_COMPILE", shapes)
    for actual, value in zip(train(Muon(0.1), "float32", "JAX", shapes), expected, strict=True):
        assert actual.dtype == np.float32
        np.testing.assert_allclose(actual, value, rtol=1e-4, atol=1e-4)


def test_equal_shapes_are_computed_together():
    shapes = [(4, 6), (3, 2), (4, 2, 3), (4, 6)]
    together = train(Muon(0.1), "float64", "FAST_COMPILE", shapes)
    for k, value in enumerate(together):
        expected = muon(np.ones(shapes[k]), [g[k] for g in gradients(shapes)], 0.1)
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-6)
    params = [pytensor.shared(np.ones(s), name=f"w{k}", shape=s) for k, s in enumerate(shapes)]
    updates = Muon(0.1).get_updates(params, [p.type() for p in params])
    batches = {v.type.shape for v in ancestors(updates.values()) if v.type.ndim == 3}
    assert {(3, 4, 4), (1, 2, 2)} <= batches


@pytest.mark.parametrize("kind", [Muon, MuSGD])
@pytest.mark.parametrize("floatX", ["float32", "float64"])
def test_float32_stays_float32(floatX, kind):
    with pytensor.config.change_flags(floatX=floatX):
        w = pytensor.shared(np.ones((2, 3), "float32"), name="w", shape=(2, 3))
        optimizer = kind(pt.scalar("lr", dtype="float32"), weight_decay=0.1)
        updates = optimizer.get_updates([w], [w])
    assert "float64" not in dtypes_of(updates.values())
    assert all(new.type == variable.type for variable, new in updates.items())


def test_half_precision_is_computed_in_single():
    x = pt.tensor("x", dtype="float16", shape=(3, 4))
    result = orthogonalize(x)
    assert result.type.dtype == "float16"
    matrix = np.random.default_rng(3).normal(size=(3, 4)).astype("float16")
    actual = pytensor.function([x], result, mode="FAST_COMPILE")(matrix)
    expected = orthogonalized(matrix.astype("float64"))
    np.testing.assert_allclose(actual, expected, atol=1e-3)


def test_state_and_groups():
    w, v = (pytensor.shared(np.ones((2, 3)), name=name) for name in "wv")
    momentum = pt.scalar("momentum")
    optimizer = Muon(0.1, momentum=momentum)
    updates = optimizer.get_updates(
        [w, v], [pt.ones((2, 3))] * 2, groups=[{"params": [v], "learning_rate": 0.5}]
    )
    assert list(optimizer.state) == ["w.gradient_average", "v.gradient_average"]
    step = pytensor.function([momentum], [], updates=updates, mode="FAST_COMPILE")
    step(0.75)
    np.testing.assert_allclose(optimizer.state["w.gradient_average"].get_value(), 0.25)
    np.testing.assert_allclose(1 - v.get_value(), 5 * (1 - w.get_value()))
    assert np.ptp(w.get_value()) < 1e-12 < 1 - w.get_value().max()


def test_parameters_of_one_axis_are_refused():
    w, bias = pytensor.shared(np.ones((2, 2)), name="w"), pytensor.shared(np.ones(2), name="bias")
    with pytest.raises(ValueError, match=r"bias has 1; give it to another optimizer, such as SGD"):
        Muon().get_updates([w, bias], [w, bias])


@pytest.mark.parametrize("settings", [{"momentum": 1.0}, {"steps": 0}, {"learning_rate": -1.0}])
def test_hyperparameters_out_of_range(settings):
    with pytest.raises(ValueError, match=f"{next(iter(settings))} must be"):
        Muon(**settings)
    w = pytensor.shared(np.ones((2, 2)), name="w")
    with pytest.raises(ValueError, match=r"momentum must be in \[0, 1\), not 1\.5"):
        Muon().get_updates([w], [w], groups=[{"params": [w], "momentum": 1.5}])


def test_integers_are_not_orthogonalized_to_zero():
    with pytest.raises(TypeError, match="must be float, not int64"):
        orthogonalize(pt.lmatrix())
