"""The functions of `pt.nn` that are formulas of PyTensor's Ops; PyTorch's results are elsewhere."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from tests.catalogue.formulas import FORMULAS
from tests.utils import REFERENCE_MODE

NAN, INF = np.nan, np.inf
# Of PyTensor's Ops whose own derivatives of half precision are in single
OF_PYTENSOR = {"sigmoid", "softplus", "hardtanh", "celu", "softshrink", "hardshrink", "threshold"}
OF_PYTENSOR |= {"cross_entropy", "cross_entropy, probabilities", "binary_cross_entropy_with_logits"}


def value(out):
    return out.eval(mode=REFERENCE_MODE)


def slope(function, x):
    """Return the gradient of the sum of a function's result."""
    v = pt.constant(np.asarray(x, dtype="float64"))
    return value(pytensor.grad(function(v).sum(), v))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", FORMULAS)
def test_results_and_gradients_keep_the_dtype(name, dtype):
    """Though floatX is float64."""
    assert pytensor.config.floatX == "float64"
    inputs, outputs, _ = FORMULAS[name].graph(dtype)
    cost = sum(out.sum(dtype=dtype) for out in outputs)
    gradients = pytensor.grad(cost, [x for x in inputs if x.type.dtype == dtype])
    assert {v.type.dtype for v in outputs} == {dtype}
    assert {v.type.dtype for v in gradients} <= {dtype, "float32" if name in OF_PYTENSOR else dtype}


def test_sums_of_half_precision():
    x = pt.constant(np.ones(100_000, dtype="float16"))
    assert value(pt.nn.mse_loss(x, pt.zeros_like(x))) == 1
    np.testing.assert_allclose(value(pt.nn.softmax(x, 0)).max(), 1e-5, rtol=1e-2)
    assert value(pt.nn.l1_loss(x, pt.zeros_like(x), reduction="sum")) == INF


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "softplus", "hardtanh", "celu", "threshold"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64"])
def test_integers_become_floats_as_in_other_activations(name, dtype):
    arguments = (0, 1) if name == "threshold" else ()
    x = pt.vector(dtype=dtype)
    assert getattr(pt.nn, name)(x, *arguments).type.dtype == pt.nn.relu(x).type.dtype


def test_activations_far_from_zero_and_of_nan():
    x = [-1e300, -1e4, 1e4, 1e300]
    for name in ("logsigmoid", "softplus", "celu", "softshrink", "hardshrink", "hardtanh"):
        function = getattr(pt.nn, name)
        assert np.isfinite(value(function(pt.constant(x)))).all(), name
        assert np.isfinite(slope(function, x)).all(), name
        assert np.isnan(value(function(pt.constant(NAN)))), name


def test_logits_far_from_zero():
    logits, target = [-1e4, 1e4, -50.0, 50.0], [1.0, 0.0, 0.0, 1.0]
    loss = lambda x: pt.nn.binary_cross_entropy_with_logits(x, target, reduction="none")  # noqa: E731
    tiny = np.exp(-50)
    np.testing.assert_allclose(value(loss(pt.constant(logits))), [1e4, 1e4, tiny, tiny])
    np.testing.assert_allclose(slope(loss, logits), [-1, 1, tiny, -tiny])
    np.testing.assert_allclose(slope(loss, [0.0] * 4), [-0.5, 0.5, 0.5, -0.5])
    x = np.array([[1e4, -1e4]])
    assert value(pt.nn.cross_entropy(pt.constant(x), [1])) == 2e4


def test_gradients_at_the_ends_of_the_domain():
    loss = lambda x: pt.nn.binary_cross_entropy(x, [1.0, 0.0, 0.0, 1.0])  # noqa: E731
    assert np.isfinite(slope(loss, [0.0, 1.0, 0.0, 1.0])).all()
    assert np.isfinite(slope(lambda t: pt.nn.kl_div(pt.zeros(2), t), [0.0, 1.0])).all()
    rows = np.zeros((2, 3))
    for function in (
        lambda x: pt.nn.normalize(x),
        lambda x: pt.nn.cosine_similarity(x, x + 1),
        lambda x: pt.nn.pairwise_distance(x, x, eps=0),
        lambda x: pt.nn.normalize(x, 3),
    ):
        assert np.isfinite(slope(function, rows)).all()


def test_a_target_that_is_no_class():
    x = pt.constant(np.zeros((4, 3)))
    losses = value(pt.nn.cross_entropy(x, [0, 3, -1, -100], reduction="none"))
    np.testing.assert_allclose(losses, [np.log(3), NAN, NAN, 0])
    assert np.isnan(value(pt.nn.multi_margin_loss(x, [0, 3, 1, 1])))
    assert np.isnan(value(pt.nn.cross_entropy(x, [-100] * 4)))  # the mean of none, as in PyTorch


def test_the_mean_of_no_sample_is_no_number():
    """Of one sample, where PyTensor's rewrites take 0 / 0 for 1."""
    x, target = pt.tensor(shape=(1, 3)), pt.tensor(shape=(1,), dtype="int64")
    losses = pt.nn.cross_entropy(x, target), pt.nn.cross_entropy(x, target, [1.0, 0.0, 1.0])
    f = pytensor.function([x, target], losses, mode=Mode("py", "fast_compile"))
    assert np.isnan(f(np.ones((1, 3)), [-100])).all()
    np.testing.assert_allclose(f(np.ones((1, 3)), [1]), [np.log(3), NAN])


def test_what_is_no_probability():
    x, target = pt.vectors("x", "target")
    loss = pt.nn.binary_cross_entropy(x, target, reduction="none")
    f = pytensor.function([x, target], loss, mode=REFERENCE_MODE)
    for known in (0.0, 1.0):
        losses = f([-0.5, 1.5, NAN, 1 - known, known], np.full(5, known))
        np.testing.assert_array_equal(losses, [NAN, NAN, NAN, 100, 0])


def test_second_derivatives_where_both_are_equal():
    zeros = np.zeros(2)
    for function in (
        lambda x: pt.nn.smooth_l1_loss(x, zeros, reduction="sum", beta=0.5),
        lambda x: 2 * pt.nn.huber_loss(x, zeros, reduction="sum"),
    ):
        first = lambda x, function=function: pytensor.grad(function(x), x)  # noqa: E731
        np.testing.assert_array_equal(slope(first, zeros), [2, 2])


def test_the_largest_share_the_gradient():
    """As in PyTorch: PyTensor's maximum gives the whole gradient to each of them."""
    x = [[1.0, -2.0, 2.0, 0.0]]
    distance = lambda x: pt.nn.pairwise_distance(x, pt.zeros((1, 4)), INF, eps=0)  # noqa: E731
    np.testing.assert_array_equal(slope(distance, x), [[0, -0.5, 0.5, 0]])
    assert np.isfinite(slope(lambda x: pt.nn.normalize(x, 0.5), x)).all()


def test_a_vector_of_one_entry_is_as_long_as_its_copies():
    """Else the cosine of the angle between them was the square root of 2, not 1."""
    one, two = pt.ones((1, 3)), pt.ones((2, 3))
    for pair in [(one, two), (two, one)]:
        cosines = pt.nn.cosine_similarity(*pair, dim=0)
        np.testing.assert_allclose(cosines.eval(mode=REFERENCE_MODE), np.ones(3))


def test_places_that_are_no_numbers_and_cells_outside():
    x = np.array([[[[1.0, 2.0, NAN]]]])
    places = np.array([[[[NAN, 0.0], [9.0, 0.0], [-INF, 0.0], [-1.0, 0.0]]]])
    for mode in ("bilinear", "nearest", "bicubic"):
        out = lambda x, mode=mode: pt.nn.grid_sample(x, places, mode, align_corners=True)  # noqa: E731
        known = NAN if mode == "bicubic" else 1
        np.testing.assert_allclose(value(out(pt.constant(x))).ravel(), [NAN, 0, 0, known])
        of_places = lambda places, mode=mode: pt.nn.grid_sample(x, places, mode)  # noqa: E731
        assert np.isfinite(slope(of_places, places[:, :, 1:2])).all()


def test_classes_that_fill_their_dtype():
    assert value(pt.nn.one_hot(pt.constant(np.array([127], "int8")))).shape == (1, 128)


def test_open_shapes():
    """Every lengths' formula, where the types know nothing."""
    x = pt.tensor4("x")
    rng = np.random.default_rng(0)
    v = rng.normal(size=(2, 4, 6, 4))
    for function in (
        lambda x: pt.nn.pixel_shuffle(x, 2),
        lambda x: pt.nn.pixel_unshuffle(x, 2),
        lambda x: pt.nn.unfold(x, 2, 1, 1, 2),
        lambda x: pt.nn.pad(x, (-1, 2, 3, -1)),
        lambda x: pt.nn.pad(x, (-3, -1)),
        lambda x: pt.nn.pad(x, (1, 2, 3, 1), "reflect"),
        lambda x: pt.nn.glu(x, 1),
        lambda x: pt.nn.cross_entropy(x, np.ones((2, 6, 4), dtype="int64"), label_smoothing=0.1),
        lambda x: pt.nn.scaled_dot_product_attention(x, x, x, is_causal=True),
        lambda x: pt.nn.dropout(x, rng=pt.random.shared_rng(seed=0)),
    ):
        out = pytensor.function([x], function(x), mode=REFERENCE_MODE)(v)
        np.testing.assert_allclose(out, value(function(pt.constant(v))), rtol=1e-12)


def test_an_unknown_mask_and_a_query_that_sees_nothing():
    q, k, v = (np.random.default_rng(0).normal(size=(3, 2)) for _ in range(3))
    mask = np.array([[True, False, True], [False, False, False], [True, True, True]])
    boolean = lambda q: pt.nn.scaled_dot_product_attention(q, k, v, mask)  # noqa: E731
    added = lambda q: pt.nn.scaled_dot_product_attention(q, k, v, np.where(mask, 0, -INF))  # noqa: E731
    out = value(boolean(pt.constant(q)))
    np.testing.assert_array_equal(out[1], 0)
    np.testing.assert_allclose(value(added(pt.constant(q))), out)
    for function in (boolean, added):
        gradient = slope(function, q)
        assert np.isfinite(gradient).all()
        np.testing.assert_array_equal(gradient[1], 0)


def test_attention_with_dropout():
    x, rng = pt.constant(np.eye(4)), pt.random.shared_rng(seed=0)
    next_rng, out = pt.nn.scaled_dot_product_attention(
        x, x, x, dropout_p=0.5, rng=rng, return_next_rng=True
    )
    weights, kept = value(out), value(pt.nn.scaled_dot_product_attention(x, x, x))
    assert isinstance(next_rng.type, type(rng.type))
    dropped = weights == 0
    assert 0 < dropped.sum() < 16
    np.testing.assert_allclose(weights[~dropped], 2 * kept[~dropped])


def test_ctc_of_all_ways():
    """The sum over all paths of few frames, one by one."""
    from itertools import groupby, product

    p = np.random.default_rng(0).dirichlet(np.ones(3), size=4)
    for labels in ([1], [1, 2], [2, 2], [1, 1, 1]):
        likelihood = 0.0
        for path in product(range(3), repeat=4):
            if [key for key, _ in groupby(path) if key != 0] == labels:
                likelihood += np.prod([row[k] for row, k in zip(p, path, strict=True)])
        loss = pt.nn.ctc_loss(np.log(p), labels, 4, len(labels), reduction="sum")
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(value(loss), -np.log(likelihood))


def test_ctc_of_what_is_no_number_or_no_label():
    log_p = np.log(np.random.default_rng(0).dirichlet(np.ones(3), size=(4, 5)).transpose(1, 0, 2))
    good = log_p.copy()
    log_p[2, 0, 1] = NAN
    labels = [[1, 2], [3, 1], [-1, 1], [1, 9]]
    for zero_infinity in (False, True):
        losses = lambda *v, z=zero_infinity: value(  # noqa: E731
            pt.nn.ctc_loss(*v, reduction="none", zero_infinity=z)
        )
        found = losses(log_p, labels, [5] * 4, [2, 2, 2, 1])
        np.testing.assert_array_equal(np.isnan(found), [True, True, True, False])
        found = losses(good, [[1, 2]] * 4, [5, 6, 5, 1], [2, 2, 3, 2])
        np.testing.assert_array_equal(np.isnan(found), [False, True, True, False])
        assert found[3] == (0 if zero_infinity else INF)
    with pytest.raises(ValueError, match="ctc_loss: blank must be one of the 3 classes, got 3"):
        pt.nn.ctc_loss(good, [[1]] * 4, [5] * 4, [1] * 4, blank=3)


def test_pads_that_remove_everything():
    x = pt.matrix("x")
    for pad in ((-1, -4), (-4, -1), (0, -5)):
        out = pytensor.function([x], pt.nn.pad(x, pad), mode=REFERENCE_MODE)(np.ones((2, 3)))
        assert out.shape == (2, 0)


def test_padding_idx_stops_the_gradient():
    weight = pt.constant(np.arange(6.0).reshape(3, 2))
    for place in (1, -2):
        gradient = value(pytensor.grad(pt.nn.embedding([1, 1, 2], weight, place).sum(), weight))
        np.testing.assert_array_equal(gradient, [[0, 0], [0, 0], [1, 1]])


BAD = [
    (lambda x: pt.nn.softmax(x, 2), "softmax: dim must be an axis of x, which has 2; got 2"),
    (lambda x: pt.nn.softplus(x, 0), "softplus: beta must not be 0"),
    (lambda x: pt.nn.hardtanh(x, 2, 1), "min_val must be at most max_val, got 2 and 1"),
    (lambda x: pt.nn.rrelu(x, training=True), "training=True isn't implemented"),
    (lambda x: pt.nn.rrelu(x, 0.5, 0.1), "lower must be at most upper, got 0.5 and 0.1"),
    (lambda x: pt.nn.softshrink(x, -1), "lambd must be a number that is 0 or more, got -1"),
    (lambda x: pt.nn.glu(x, 0), "length of x along dim=0 must be even, got 3"),
    (lambda x: pt.nn.celu(x, 0), "celu: alpha must not be 0"),
    (lambda x: pt.nn.linear(x, np.ones((2, 3))), "x has 4 features in its last axis, weight"),
    (lambda x: pt.nn.linear(x, np.ones((2, 4)), np.ones(3)), r"bias must have shape \(2,\)"),
    (lambda x: pt.nn.bilinear(x, x, np.ones((2, 3, 4))), "weight must have shape"),
    (lambda x: pt.nn.embedding([0], x, 3), "padding_idx must be a row of weight, 3 rows; got 3"),
    (lambda x: pt.nn.one_hot([0], 0), "num_classes must be an integer that is 1 or more, got 0"),
    (lambda x: pt.nn.mse_loss(x, np.ones(4)), r"target must have shape \(3, 4\), that of x"),
    (lambda x: pt.nn.mse_loss(x, x, reduction="sums"), "must be one of 'mean', 'sum', 'none'"),
    (lambda x: pt.nn.cross_entropy(x, [0, 1]), r"target must have shape \(3,\)"),
    (lambda x: pt.nn.cross_entropy(x[0], [0, 1]), r"no axis of classes.*x\.flatten\(2\)"),
    (lambda x: pt.nn.nll_loss(x[0], [0, 1]), r"no axis of classes.*x\.flatten\(2\)"),
    (lambda x: pt.nn.cross_entropy(x, np.ones((3, 4), dtype=int)), "so it must be probabilities"),
    (lambda x: pt.nn.cross_entropy(x, x, ignore_index=1), "targets that are classes"),
    (lambda x: pt.nn.cross_entropy(x, x, label_smoothing=2), "number from 0 to 1, got 2"),
    (lambda x: pt.nn.huber_loss(x, x, delta=0), "delta must be positive, got 0"),
    (lambda x: pt.nn.gaussian_nll_loss(x, x, np.ones((2, 3, 4))), "var must have the shape of x"),
    (lambda x: pt.nn.triplet_margin_loss(x, x, x[0]), "the inputs must have as many axes"),
    (lambda x: pt.nn.margin_ranking_loss(x, x, x[0]), "must have as many axes"),
    (lambda x: pt.nn.multi_margin_loss(x, [0, 1, 2], 3), "p must be 1 or 2, got 3"),
    (lambda x: pt.nn.pairwise_distance(x, x, 0), "p must be a positive number, got 0"),
    (lambda x: pt.nn.pad(x, (1, 2, 3)), r"pad must be \(before, after\)"),
    (lambda x: pt.nn.pad(x, (1, 1), value=INF), "value must be a finite number"),
    (lambda x: pt.nn.pad(x, (4, 0), "reflect"), "can't pad an axis of length 4"),
    (lambda x: pt.nn.pad(x, (5, 0), "circular"), "can't pad an axis of length 4"),
    (lambda x: pt.nn.pad(x, (1, 0), "reflect", 1), "value is for mode='constant'"),
    (lambda x: pt.nn.pixel_shuffle(x, 2), "x must have 3 axes or more, got 2"),
    (lambda x: pt.nn.pixel_shuffle(x[None], 2), "must have a multiple of 4 channels, got 1"),
    (lambda x: pt.nn.unfold(x[None], 5), "3 cells padded by 0 have no window of 5"),
    (lambda x: pt.nn.fold(x, (3, 3), 2), "x must have a multiple of 4 rows, got 3"),
    (lambda x: pt.nn.grid_sample(x[None, None], x), "grid must have shape"),
    (lambda x: pt.nn.affine_grid(x[None], (1, 1, 2)), "size must be"),
    (lambda x: pt.nn.scaled_dot_product_attention(x, x, x, x, 0.0, True), "not both"),
    (lambda x: pt.nn.scaled_dot_product_attention(x, x, x, enable_gqa=True), "numbers of heads"),
    (
        lambda x: pt.nn.ctc_loss(x[None], [1], [1], [1]),
        r"targets must have shape \(batch, labels\)",
    ),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call(pt.constant(np.ones((3, 4))))


ONE = np.ones(1)
BROADCAST = [
    lambda x: pt.nn.linear(x, x, ONE),
    lambda x: pt.nn.bilinear(x[:, :1], ONE[None], np.ones((2, 1, 1))),
    lambda x: pt.nn.conv2d(x[None, None], x[:, None, None], ONE),
    lambda x: pt.nn.batch_norm(x, ONE, ONE),
    lambda x: pt.nn.group_norm(x, 1, ONE),
    lambda x: pt.nn.layer_norm(x, (None,), ONE),
    lambda x: pt.nn.mse_loss(x, np.ones((3, 1))),
    lambda x: pt.nn.mse_loss(pt.constant(np.ones((3, 1))), x),
    lambda x: pt.nn.cross_entropy(x, [0]),
    lambda x: pt.nn.cross_entropy(x, [0, 1, 2], weight=ONE),
]


@pytest.mark.parametrize("mode", [REFERENCE_MODE, "JAX"])
@pytest.mark.parametrize("call", BROADCAST)
def test_a_length_of_one_is_no_other(call, mode):
    """PyTensor broadcasts it where it doesn't know the other length before."""
    if mode == "JAX":
        pytest.importorskip("jax")
    x = pt.matrix("x")
    f = pytensor.function([x], call(x), mode=mode)
    with pytest.raises((AssertionError, ValueError), match=r"SpecifyShape|Invalid shape"):
        f(np.ones((3, 4)))


@pytest.mark.parametrize("name", ["softmax", "linear", "mse_loss", "cross_entropy", "normalize"])
def test_integers_where_floats_are_needed(name):
    with pytest.raises(TypeError, match=f"{name}: x must be floating point, got int64"):
        getattr(pt.nn, name)(pt.lmatrix(), np.ones(3, dtype=int))
    assert pt.nn.softmax(pt.lmatrix(), 0, dtype="float32").type.dtype == "float32"


def test_names_that_are_missing():
    for name, hint in {
        "softmx": "the nearest are softmax",
        "Linear": "layers are in pytensor.layers",
        "topk": "use pt.topk",
        "qqqq": "has no attribute 'qqqq'$",
    }.items():
        with pytest.raises(AttributeError, match=hint):
            getattr(pt.nn, name)
