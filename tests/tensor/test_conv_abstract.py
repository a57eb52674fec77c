import itertools

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.conv import abstract_conv
from tests.tensor.test_conv import naive_conv, symbolic_pair
from tests.utils import REFERENCE_MODE


def evaluate(out, inputs=(), values=()):
    return pytensor.function(list(inputs), out, mode=REFERENCE_MODE)(*values)


def test_conv2d():
    image, filters = np.ones((1, 2, 5, 4)), np.arange(12.0).reshape(1, 2, 2, 3)
    x, w = symbolic_pair(4)
    out = abstract_conv.conv2d(x, w, (None, 2, 5, 4), (1, 2, 2, 3), "half", (2, 1), False)
    assert out.type.shape == (None, 1, 3, 4)
    expected = naive_conv(image, filters, ((1, 1), (1, 1)), (2, 1), (1, 1), 1, False)
    np.testing.assert_allclose(evaluate(out, [x, w], [image, filters]), expected)
    with pytest.raises(AssertionError, match="SpecifyShape"):
        evaluate(out, [x, w], [image[:, :, 1:], filters])
    older = abstract_conv.conv2d(x, w, image_shape=(1, 2, 5, 4))
    assert older.type.shape == (1, None, None, None)
    with pytest.raises(ValueError, match="not both"):
        abstract_conv.conv2d(x, w, input_shape=(1, 2, 5, 4), image_shape=(1, 2, 5, 4))


def test_conv3d():
    rng = np.random.default_rng(0)
    image, filters = rng.normal(size=(2, 4, 3, 5, 4)), rng.normal(size=(2, 2, 2, 1, 3))
    pads, stride, dilation = ((1, 0), (0, 0), (2, 2)), (1, 2, 3), (2, 1, 1)
    out = abstract_conv.conv3d(
        image, filters, (2, 4, None, 5, 4), None, ((1, 0), 0, 2), stride, False, dilation, 2
    )
    expected = naive_conv(image, filters, pads, stride, dilation, 2, False)
    np.testing.assert_allclose(evaluate(out), expected, rtol=1e-12)


def naive_unshared(image, filters, pads, stride, dilation, groups, flip):
    """One convolution per output position, of which that position remains."""
    out = np.zeros((len(image), len(filters), *filters.shape[1:3]))
    for r, c in np.ndindex(*filters.shape[1:3]):
        shared = filters[:, r, c]
        everywhere = naive_conv(image, shared, pads, stride, dilation, groups, flip)
        assert everywhere.shape == out.shape
        out[:, :, r, c] = everywhere[:, :, r, c]
    return out


UNSHARED = ((1, (0, 2)), ((1, 1), (0, 2)), (2, 1), (1, 2), 2, False)


@pytest.mark.parametrize(
    ("border", "pads", "stride", "dilation", "groups", "flip"),
    [("valid", ((0, 0), (0, 0)), (1, 1), (1, 1), 1, True), UNSHARED],
)
def test_unshared(border, pads, stride, dilation, groups, flip):
    rng = np.random.default_rng(1)
    image = rng.normal(size=(2, 4, 5, 4))
    example = rng.normal(size=(6, 4 // groups, 2, 3 if groups == 1 else 2))
    positions = naive_conv(image, example, pads, stride, dilation, groups, flip).shape[2:]
    filters = rng.normal(size=(6, *positions, *example.shape[1:]))

    def conv(image, filters):
        return abstract_conv.conv2d(
            image, filters, None, filters.type.shape, border, stride, flip, None, dilation,
            groups, True,
        )  # fmt: skip

    expected = naive_unshared(image, filters, pads, stride, dilation, groups, flip)
    x, w = pt.tensor4("x"), pt.tensor("w", shape=filters.shape)
    out = conv(x, w)
    np.testing.assert_allclose(evaluate(out, [x, w], [image, filters]), expected, rtol=1e-12)
    assert conv(pt.constant(image), pt.constant(filters)).type.shape == expected.shape
    verify_grad(conv, [image[:1], filters], rng=rng, mode=REFERENCE_MODE)

    # the gradient functions: the same as differentiation
    g, cotangent = pt.tensor4("g"), rng.normal(size=expected.shape)
    arguments = (border, stride, flip, dilation, groups, True)
    gradients = [
        abstract_conv.conv2d_grad_wrt_inputs(g, w, image.shape, None, *arguments),
        abstract_conv.conv2d_grad_wrt_weights(x, g, filters.shape, None, *arguments),
    ]
    wanted = pytensor.grad((out * g).sum(), [x, w])
    f = pytensor.function([x, w, g], gradients + wanted, mode=REFERENCE_MODE)
    *results, wanted_x, wanted_w = f(image, filters, cotangent)
    np.testing.assert_allclose(results[0], wanted_x, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(results[1], wanted_w, rtol=1e-12, atol=1e-12)


def test_unshared_bad_input():
    x = pt.tensor4("x")
    with pytest.raises(ValueError, match="unshared filters must have 6 axes of known lengths"):
        abstract_conv.conv2d(x, pt.tensor4("w"), unshared=True)
    with pytest.raises(ValueError, match=r"for an output of \(2, 2\) don't match .*\(3, 2\)"):
        abstract_conv.conv2d(np.ones((1, 1, 4, 3)), np.ones((1, 2, 2, 1, 2, 2)), unshared=True)
    out = abstract_conv.conv2d(x, np.ones((1, 3, 2, 1, 2, 2)), unshared=True)
    with pytest.raises(AssertionError, match="SpecifyShape"):
        evaluate(out, [x], [np.ones((1, 1, 3, 4))])


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("form", ["ints", "variables"])
def test_gradient_functions(n, form):
    rng = np.random.default_rng(2)
    image = rng.normal(size=(2, 4, 6, 5, 4)[: n + 2])
    filters = rng.normal(size=(6, 2, 2, 3, 1)[: n + 2])
    pads, stride, dilation = ((1, 0), (0, 2), (1, 1))[:n], (3, 1, 2)[:n], (1, 2, 1)[:n]
    x, w = pt.tensor("x", shape=(None,) * (n + 2)), pt.tensor("w", shape=(None,) * (n + 2))
    conv = {2: pt.conv2d, 3: pt.conv3d}[n]
    out = conv(x, w, pads, stride, dilation, 2, False)
    g = out.type("g")
    cotangent = rng.normal(size=conv(image, filters, pads, stride, dilation, 2).type.shape)
    wanted = pytensor.grad((out * g).sum(), [x, w])
    if form == "ints":
        input_shape, filter_shape = image.shape, filters.shape
    else:
        input_shape, filter_shape = (None, None, *x.shape[2:]), (None, None, *w.shape[2:])
    of_inputs = getattr(abstract_conv, f"conv{n}d_grad_wrt_inputs")
    of_weights = getattr(abstract_conv, f"conv{n}d_grad_wrt_weights")
    arguments = (pads, stride, False, dilation, 2)
    gradients = [
        of_inputs(g, w, input_shape, None, *arguments),
        of_weights(x, g, filter_shape, None, *arguments),
    ]
    if form == "ints":
        assert [v.type.shape for v in gradients] == [image.shape, filters.shape]
    f = pytensor.function([x, w, g], gradients + wanted, mode=REFERENCE_MODE)
    results = f(image, filters, cotangent)
    np.testing.assert_allclose(results[0], results[2], rtol=1e-12)
    np.testing.assert_allclose(results[1], results[3], rtol=1e-12)
    with pytest.raises(ValueError, match=f"conv{n}d_grad_wrt_inputs: input_shape must be a tuple"):
        of_inputs(g, w, (2, 4, *[None] * n))
    with pytest.raises(ValueError, match=f"conv{n}d_grad_wrt_weights: filter_shape must be a"):
        of_weights(x, g, 3)


def test_impossible_gradients():
    g, w = np.ones((1, 1, 3, 3)), np.ones((1, 1, 2, 2))
    with pytest.raises(ValueError, match=r"conv2d: .* must have shape \(1, 1, 4, 3\)"):
        abstract_conv.conv2d_grad_wrt_inputs(g, w, (1, 1, 5, 4))
    with pytest.raises(TypeError, match="floating-point"):
        abstract_conv.conv2d_grad_wrt_inputs(g, w.astype("int64"), (1, 1, 4, 4))
    filters = pt.tensor4("filters")
    out = abstract_conv.conv2d_grad_wrt_inputs(g, filters, (1, 1, 5, 4))
    with pytest.raises(ValueError, match=r"conv2d: .* must have shape \(1, 1, 4, 3\)"):
        evaluate(out, [filters], [w])


def test_conv2d_transpose():
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, 4, 3, 2)), rng.normal(size=(4, 3, 2, 3))
    out = abstract_conv.conv2d_transpose(
        x, w, (None, 6, 7, 5), None, (0, 1), (2, 3), False, (2, 1), 2
    )
    wanted = pt.conv2d_transpose(x, w, (0, 1), (2, 3), (2, 1), 2, False, output_shape=(7, 5))
    assert out.type.shape == wanted.type.shape == (2, 6, 7, 5)
    np.testing.assert_allclose(evaluate(out), evaluate(wanted), rtol=1e-12)


@pytest.mark.parametrize("n", [2, 3])
def test_separable(n):
    rng = np.random.default_rng(4)
    image = rng.normal(size=(2, 3, 5, 4, 4)[: n + 2])
    depthwise = rng.normal(size=(6, 1, 2, 3, 1)[: n + 2])
    pointwise = rng.normal(size=(4, 6, 1, 1, 1)[: n + 2])
    stride, dilation = (2, 1, 3)[:n], (1, 1, 2)[:n]
    function = getattr(abstract_conv, f"separable_conv{n}d")
    out = function(
        image, depthwise, pointwise, 3, image.shape, None, (4, 6, *[1] * n), 1, stride, False,
        dilation,
    )  # fmt: skip
    first = naive_conv(image, depthwise, ((1, 1),) * n, stride, dilation, 3, False)
    expected = np.moveaxis(np.tensordot(pointwise.reshape(4, 6), first, (1, 1)), 0, 1)
    np.testing.assert_allclose(evaluate(out), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="pointwise_filters must have a kernel of size 1"):
        function(image, depthwise, depthwise, 3)


@pytest.mark.parametrize(("stride", "dilation", "groups"), [(1, 1, 1), (2, 3, 2)])
def test_causal_conv1d(stride, dilation, groups):
    rng = np.random.default_rng(5)
    x, w = rng.normal(size=(2, 4, 8)), rng.normal(size=(2, 4 // groups, 3))
    pads = ((2 * dilation, 0),)
    out = abstract_conv.causal_conv1d(x, w, w.shape, None, stride, True, dilation, groups)
    expected = naive_conv(x, w, pads, (stride,), (dilation,), groups, True)
    assert out.type.shape == expected.shape == (2, 2, -(-8 // stride))
    np.testing.assert_allclose(evaluate(out), expected, rtol=1e-12)

    unshared = rng.normal(size=(2, expected.shape[2], *w.shape[1:]))
    out = abstract_conv.causal_conv1d(
        x, unshared, unshared.shape, None, stride, True, dilation, groups, True
    )
    for position in range(expected.shape[2]):
        shared = naive_conv(x, unshared[:, position], pads, (stride,), (dilation,), groups, True)
        np.testing.assert_allclose(
            evaluate(out)[:, :, position], shared[:, :, position], rtol=1e-12, atol=1e-12
        )
    with pytest.raises(ValueError, match="causal_conv1d: filter_shape must be a tuple of 3"):
        abstract_conv.causal_conv1d(x, w, None)


def interpolated(image, axis, numerator, denominator):
    """`np.interp` at the places of Theano's grid; it continues the first and last value."""
    length = image.shape[axis]
    positions = np.arange(0, length * numerator, denominator)
    where = (positions - (numerator - 1) // 2) / numerator
    return np.apply_along_axis(lambda row: np.interp(where, np.arange(length), row), axis, image)


@pytest.mark.parametrize(
    ("arguments", "fractions"),
    [
        ({"ratio": 1}, [(1, 1), (1, 1)]),
        ({"ratio": 2}, [(2, 1), (2, 1)]),
        ({"ratio": 5, "use_1D_kernel": False}, [(5, 1), (5, 1)]),
        ({"frac_ratio": (3, 2)}, [(3, 2), (3, 2)]),
        ({"frac_ratio": ((4, 6), (7, 3))}, [(2, 3), (7, 3)]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bilinear_upsampling(arguments, fractions, dtype):
    rng = np.random.default_rng(6)
    image = rng.normal(size=(2, 3, 4, 5)).astype(dtype)
    expected = image
    for axis, fraction in enumerate(fractions, start=2):
        expected = interpolated(expected, axis, *fraction)
    out = abstract_conv.bilinear_upsampling(image, **arguments)
    assert (out.type.dtype, out.type.shape) == (dtype, expected.shape)
    tolerance = 1e-12 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(evaluate(out), expected, rtol=tolerance, atol=tolerance)


def test_bilinear_upsampling_at_one_pixel_and_its_gradient():
    pixel = abstract_conv.bilinear_upsampling(np.full((1, 1, 1, 1), 3.0), 4)
    np.testing.assert_array_equal(evaluate(pixel), np.full((1, 1, 4, 4), 3.0))
    rng = np.random.default_rng(7)
    verify_grad(
        lambda x: abstract_conv.bilinear_upsampling(x, frac_ratio=(3, 2)),
        [rng.normal(size=(1, 2, 3, 2))],
        rng=rng,
        mode=REFERENCE_MODE,
    )


def test_bilinear_kernels():
    for ratio, normalize in itertools.product([1, 2, 3], [True, False]):
        row = np.minimum(np.arange(1, 2 * ratio), np.arange(2 * ratio - 1, 0, -1))
        row = row / ratio if normalize else row
        kernel = evaluate(abstract_conv.bilinear_kernel_1D(ratio, normalize))
        np.testing.assert_allclose(kernel, row)
        square = evaluate(abstract_conv.bilinear_kernel_2D(ratio, normalize))
        np.testing.assert_allclose(square, np.outer(row, row))
    ratio = pt.iscalar("ratio")
    kernel = abstract_conv.bilinear_kernel_1D(ratio)
    np.testing.assert_allclose(evaluate(kernel, [ratio], [2]), [0.5, 1, 0.5])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "either ratio or frac_ratio"),
        ({"ratio": 2, "frac_ratio": (3, 2)}, "either ratio or frac_ratio"),
        ({"ratio": 1.5}, "ratio must be an int"),
        ({"ratio": 0}, "ratio must be an int"),
        ({"frac_ratio": (3, 0)}, "frac_ratio must be a pair"),
        ({"frac_ratio": 3}, "frac_ratio must be a pair"),
        ({"frac_ratio": ((3, 2), 2)}, "frac_ratio must be a pair"),
    ],
)
def test_bilinear_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        abstract_conv.bilinear_upsampling(pt.tensor4(), **arguments)


def test_bilinear_bad_input():
    with pytest.raises(ValueError, match="input must have 4 axes, got 3"):
        abstract_conv.bilinear_upsampling(pt.tensor3(), 2)
    with pytest.raises(TypeError, match="cast it first"):
        abstract_conv.bilinear_upsampling(pt.tensor4(dtype="int8"), 2)


@pytest.mark.parametrize("shape", [(1, 2), (-1, 2, 3, 4), (None, 2.0, 3, 4), "1234", 5])
def test_bad_shapes_known_beforehand(shape):
    x, w = symbolic_pair(4)
    with pytest.raises(ValueError, match="input_shape must be a tuple with a length of at least 0"):
        abstract_conv.conv2d(x, w, shape)
    with pytest.raises(ValueError, match="filter_shape must be a tuple"):
        abstract_conv.conv2d(x, w, None, shape)
