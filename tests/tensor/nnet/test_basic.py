import numpy as np
import pytest
from scipy import special

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor import nnet
from tests.utils import REFERENCE_MODE, compare_jax_and_py

RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(4, 3)) * 3
LABELS = np.array([2, 0, 1, 1])


def evaluate(out):
    return out.eval(mode=REFERENCE_MODE)


def test_relu():
    x = np.array([-2.0, -0.5, 0.0, 3.0])
    np.testing.assert_array_equal(evaluate(nnet.relu(x)), np.maximum(x, 0))
    np.testing.assert_array_equal(evaluate(nnet.relu(x, 0.25)), np.where(x > 0, x, 0.25 * x))
    # One slope per channel, learned
    alpha = pt.tensor("alpha", shape=(2, 1))
    images = pt.tensor("images", shape=(2, 4))
    out = pytensor.function([images, alpha], nnet.relu(images, alpha), mode=REFERENCE_MODE)
    slopes = np.array([[0.5], [-2.0]])
    np.testing.assert_array_equal(out([x, x], slopes), np.where(x > 0, x, slopes * x))
    assert nnet.relu(pt.fmatrix("x"), 0.1).type.dtype == "float32"
    verify_grad(nnet.relu, [np.array([-1.0, 2.0]), np.array([0.3, 0.4])], rng=RNG)


def test_softmax():
    np.testing.assert_allclose(evaluate(nnet.softmax(LOGITS)), special.softmax(LOGITS, axis=1))
    row = evaluate(nnet.softmax(LOGITS[0]))
    np.testing.assert_allclose(row, special.softmax(LOGITS[:1], axis=1))
    columns = evaluate(nnet.softmax(LOGITS, axis=0))
    np.testing.assert_allclose(columns, special.softmax(LOGITS, axis=0))
    bias = np.array([0.5, -1, 2])
    biased = evaluate(nnet.softmax_with_bias(LOGITS, bias))
    np.testing.assert_allclose(biased, special.softmax(LOGITS + bias, axis=1))
    with pytest.raises(ValueError, match=r"softmax: the input must be .* it has 3 axes"):
        nnet.softmax(pt.tensor3())


def test_logsoftmax():
    far = LOGITS * 1000
    np.testing.assert_allclose(evaluate(nnet.logsoftmax(far)), special.log_softmax(far, axis=1))
    assert evaluate(nnet.logsoftmax(far[0])).shape == (1, 3)
    columns = evaluate(nnet.logsoftmax(far, axis=0))
    np.testing.assert_allclose(columns, special.log_softmax(far, axis=0))
    with pytest.raises(ValueError, match=r"logsoftmax: the input must be .* it has 0 axes"):
        nnet.logsoftmax(pt.scalar())


@pytest.mark.parametrize("dense", [False, True], ids=["labels", "distribution"])
def test_categorical_crossentropy(dense):
    truth = special.softmax(RNG.normal(size=(4, 3)), axis=1) if dense else LABELS
    weights = truth if dense else np.eye(3)[LABELS]
    expected = -(weights * special.log_softmax(LOGITS, axis=1)).sum(axis=1)
    from_logits = nnet.categorical_crossentropy(nnet.softmax(LOGITS), truth)
    np.testing.assert_allclose(evaluate(from_logits), expected)
    probabilities = special.softmax(LOGITS, axis=1)
    np.testing.assert_allclose(
        evaluate(nnet.categorical_crossentropy(probabilities, truth)), expected
    )
    verify_grad(
        lambda x: nnet.categorical_crossentropy(nnet.softmax(x), truth), [LOGITS], rng=RNG
    )


def test_categorical_crossentropy_of_three_axes():
    logits, labels = RNG.normal(size=(2, 4, 3)), RNG.integers(3, size=(2, 4))
    expected = -np.take_along_axis(special.log_softmax(logits, -1), labels[..., None], -1)[..., 0]
    out = nnet.categorical_crossentropy(nnet.softmax(logits, axis=-1), labels)
    np.testing.assert_allclose(evaluate(out), expected)
    # A softmax over another axis isn't that of the classes
    other = -np.log(np.take_along_axis(special.softmax(logits, 1), labels[..., None], -1)[..., 0])
    out = nnet.categorical_crossentropy(nnet.softmax(logits, axis=1), labels)
    np.testing.assert_allclose(evaluate(out), other)


@pytest.mark.parametrize("mode", [REFERENCE_MODE, "JAX"], ids=["py", "JAX"])
@pytest.mark.parametrize("labels", [[1, 0], [[0.0, 1.0], [1.0, 0.0]]], ids=["labels", "dense"])
def test_nothing_underflows(labels, mode):
    """Probabilities of exp(-1000) are 0, their logarithm -1000."""
    if mode == "JAX":
        pytest.importorskip("jax")
    logits = pt.matrix("logits")
    cost = nnet.categorical_crossentropy(nnet.softmax(logits), labels).sum()
    f = pytensor.function([logits], [cost, pytensor.grad(cost, logits)], mode=mode)
    value, gradient = f(np.array([[1000.0, 0.0], [1000.0, 0.0]]))
    assert value == 1000
    np.testing.assert_array_equal(gradient, [[1, -1], [0, 0]])


def test_impossible_classes_of_true_probability_zero_count_nothing():
    truth = np.array([[0.0, 1.0]])
    np.testing.assert_array_equal(
        evaluate(nnet.categorical_crossentropy(np.array([[0.0, 1.0]]), truth)), [0]
    )
    masked = nnet.softmax(np.array([[-np.inf, 1.0]]))
    np.testing.assert_array_equal(evaluate(nnet.categorical_crossentropy(masked, truth)), [0])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32"])
def test_labels_of_any_integer_dtype(dtype):
    probabilities = special.softmax(LOGITS, axis=1)
    out = nnet.categorical_crossentropy(probabilities, LABELS.astype(dtype))
    np.testing.assert_allclose(evaluate(out), -np.log(probabilities[range(4), LABELS]))


def test_labels_that_do_not_fit():
    x, labels = pt.matrix("x"), pt.lvector("labels")
    f = pytensor.function(
        [x, labels], nnet.categorical_crossentropy(x, labels), mode=REFERENCE_MODE
    )
    with pytest.raises(AssertionError, match=r"Got shape \(3,\), expected \(4,\)"):
        f(LOGITS, LABELS[:3])
    with pytest.raises(IndexError, match="out of bounds"):
        f(LOGITS, LABELS + 1)


def test_integers_as_a_distribution():
    truth = np.eye(3, dtype="int64")[LABELS]
    coding = pt.constant(special.softmax(LOGITS, axis=1).astype("float32"))
    out = nnet.categorical_crossentropy(coding, truth)
    assert out.type.dtype == "float32"
    expected = -special.log_softmax(LOGITS, axis=1)[range(4), LABELS]
    np.testing.assert_allclose(evaluate(out), expected, rtol=1e-5)


def test_categorical_crossentropy_errors():
    with pytest.raises(TypeError, match="as many axes as coding_dist or one less, got 0 and 2"):
        nnet.categorical_crossentropy(pt.matrix(), pt.lscalar())
    with pytest.raises(TypeError, match="class numbers must be integers, true_dist is float64"):
        nnet.categorical_crossentropy(pt.matrix(), pt.vector())
    with pytest.raises(TypeError, match="needs a matrix and a vector, got 3 and 2 axes"):
        nnet.crossentropy_categorical_1hot(pt.tensor3(), pt.lmatrix())


def test_softmax_with_its_crossentropy():
    bias = np.array([0.5, -1, 2])
    expected = special.softmax(LOGITS + bias, axis=1)
    outputs = nnet.crossentropy_softmax_argmax_1hot_with_bias(LOGITS, bias, LABELS)
    nll, probabilities, argmax = map(evaluate, outputs)
    np.testing.assert_allclose(nll, -np.log(expected[range(4), LABELS]))
    np.testing.assert_allclose(probabilities, expected)
    np.testing.assert_array_equal(argmax, expected.argmax(axis=1))
    first, second = nnet.crossentropy_softmax_1hot_with_bias(LOGITS, bias, LABELS)
    np.testing.assert_allclose(evaluate(first), nll)
    np.testing.assert_allclose(evaluate(second), expected)
    first, second = nnet.crossentropy_softmax_1hot(LOGITS + bias, LABELS)
    np.testing.assert_allclose(evaluate(first), nll)
    np.testing.assert_allclose(evaluate(second), expected)


def test_binary_crossentropy():
    x, target = RNG.normal(size=(3, 2)) * 4, RNG.random(size=(3, 2))
    p = special.expit(x)
    expected = -(target * np.log(p) + (1 - target) * np.log1p(-p))
    for out in (
        nnet.binary_crossentropy(p, target),
        nnet.binary_crossentropy(nnet.sigmoid(pt.constant(x)), target),
        nnet.sigmoid_binary_crossentropy(x, target),
    ):
        np.testing.assert_allclose(evaluate(out), expected)
    verify_grad(nnet.sigmoid_binary_crossentropy, [x, target], rng=RNG)
    half = pt.constant(p.astype("float32"))
    for function in (nnet.binary_crossentropy, nnet.sigmoid_binary_crossentropy):
        assert function(half, np.ones((3, 2), "int64")).type.dtype == "float32"


def test_sigmoid_binary_crossentropy_loses_nothing():
    x = pt.vector("x")
    cost = nnet.binary_crossentropy(nnet.sigmoid(x), np.array([0.0, 1.0, 1.0, 0.0, 0.25]))
    f = pytensor.function([x], [cost, pytensor.grad(cost.sum(), x)], mode=REFERENCE_MODE)
    value, gradient = f([1000.0, -1000.0, 30.0, -30.0, 0.0])
    tiny = np.log1p(np.exp(-30))
    np.testing.assert_allclose(value, [1000, 1000, tiny, tiny, np.log(2)], rtol=1e-12)
    tiny = special.expit(-30)
    np.testing.assert_allclose(gradient, [1, -1, -tiny, tiny, 0.25], rtol=1e-12)


def test_h_softmax():
    batch, features, classes, per_class, n_outputs = 4, 5, 3, 2, 5
    x, w1, b1 = (RNG.normal(size=s) for s in [(batch, features), (features, classes), classes])
    w2, b2 = RNG.normal(size=(classes, features, per_class)), RNG.normal(size=(classes, per_class))
    expected = np.empty((batch, n_outputs))
    for i, o in np.ndindex(*expected.shape):
        c, place = divmod(o, per_class)
        within = special.softmax(x[i] @ w2[c] + b2[c])
        expected[i, o] = special.softmax(x[i] @ w1 + b1)[c] * within[place]
    arguments = (x, batch, n_outputs, classes, per_class, w1, b1, w2, b2)
    np.testing.assert_allclose(evaluate(nnet.h_softmax(*arguments)), expected)
    target = np.array([[4], [0], [3], [1]])
    chosen = evaluate(nnet.h_softmax(*arguments, target=target))
    np.testing.assert_allclose(chosen, expected[range(batch), target[:, 0]])


def test_confusion_matrix():
    actual, pred = RNG.choice([1, 3, 7, 9], size=(2, 50))
    matrix, order = map(evaluate, nnet.confusion_matrix(actual, pred))
    np.testing.assert_array_equal(order, [1, 3, 7, 9])
    for i, j in np.ndindex(4, 4):
        assert matrix[i, j] == np.sum((actual == order[i]) & (pred == order[j]))
    with pytest.raises(ValueError, match="pred must be a vector, it has 2 axes"):
        nnet.confusion_matrix(pt.lvector(), pt.lmatrix())


def test_in_jax():
    pytest.importorskip("jax")
    x, labels = pt.matrix("x"), pt.lvector("labels")
    probabilities = nnet.softmax(x)
    cost = nnet.categorical_crossentropy(probabilities, labels)
    outputs = [cost, probabilities, pytensor.grad(cost.sum(), x)]
    outputs.append(nnet.binary_crossentropy(nnet.sigmoid(x), 0.25))
    outputs.append(nnet.relu(x, x + 1))
    compare_jax_and_py([x, labels], outputs, [LOGITS, LABELS])


def test_training_in_single_precision_warns_of_nothing(float32_everywhere):
    """All warnings are errors here: of int64, which JAX has none of then, and of checks."""
    pytest.importorskip("jax")
    x, labels = pt.tensor("x", shape=(None, 3), dtype="float32"), pt.ivector("labels")
    weight = pytensor.shared(np.eye(3, dtype="float32"), shape=(3, 3))
    cost = nnet.categorical_crossentropy(nnet.softmax(x @ weight), labels).mean()
    f = pytensor.function([x, labels], [cost, pytensor.grad(cost, weight)], mode="JAX")
    value, gradient = f(LOGITS.astype("float32"), LABELS.astype("int32"))
    assert gradient.dtype == "float32"
    expected = -special.log_softmax(LOGITS, axis=1)[range(4), LABELS].mean()
    np.testing.assert_allclose(value, expected, rtol=1e-6)
