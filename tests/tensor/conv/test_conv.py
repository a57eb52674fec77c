import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.conv import conv
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput
from tests.utils import REFERENCE_MODE


def naive_conv(image, filters, pads, stride, dilation, groups, flip):
    """Convolve by the definition, one multiplication at a time; `pads` are pairs."""
    n = image.ndim - 2
    image = np.pad(image.astype("float64"), ((0, 0), (0, 0), *pads))
    if flip:
        filters = np.flip(filters, range(2, 2 + n))
    kernel = filters.shape[2:]
    spatial = [
        (size - (k - 1) * d - 1) // s + 1
        for size, k, s, d in zip(image.shape[2:], kernel, stride, dilation, strict=True)
    ]
    out = np.zeros((len(image), len(filters), *spatial))
    in_group, out_group = filters.shape[1], len(filters) // groups
    for b, o, *position in np.ndindex(*out.shape):
        for c, *tap in np.ndindex(*filters.shape[1:]):
            where = [
                p * s + t * d for p, s, t, d in zip(position, stride, tap, dilation, strict=True)
            ]
            channel = o // out_group * in_group + c
            out[(b, o, *position)] += image[(b, channel, *where)] * filters[(o, c, *tap)]
    return out


def symbolic_pair(ndim, dtype="float64"):
    return [pt.tensor(name, dtype=dtype, shape=(None,) * ndim) for name in ("image", "filters")]


# border_mode, the same as pairs for a kernel of 2 x 3 with the given dilation, stride, dilation,
# groups, flip
CASES = [
    ("valid", ((0, 0), (0, 0)), (2, 3), (1, 2), 1, False),
    ("half", ((2, 2), (1, 1)), (1, 2), (3, 1), 2, False),
    ("full", ((2, 2), (2, 2)), (2, 1), (2, 1), 2, True),
    (2, ((2, 2), (2, 2)), (3, 2), (1, 1), 1, False),
    ((0, 2), ((0, 0), (2, 2)), (1, 2), (1, 3), 4, True),
    (((2, 0), (1, 3)), ((2, 0), (1, 3)), (2, 1), (2, 1), 4, False),
    ((1, (0, 2)), ((1, 1), (0, 2)), (1, 1), (1, 1), 2, True),
]


@pytest.mark.parametrize(("border", "pads", "stride", "dilation", "groups", "flip"), CASES)
def test_against_definition(border, pads, stride, dilation, groups, flip):
    rng = np.random.default_rng(0)
    image = rng.normal(size=(2, 4, 7, 6))
    filters = rng.normal(size=(8, 4 // groups, 2, 3))
    expected = naive_conv(image, filters, pads, stride, dilation, groups, flip)

    variables = symbolic_pair(4)
    unknown = pt.conv2d(*variables, border, stride, dilation, groups, flip)
    f = pytensor.function(variables, [unknown, unknown.shape], mode=REFERENCE_MODE)
    value, shape = f(image, filters)
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    assert tuple(shape) == expected.shape

    known = pt.conv2d(pt.constant(image), pt.constant(filters), border, stride, dilation, groups)
    assert known.type.shape == expected.shape
    # The kernel alone is known, as in a network for images of any size
    half_known = pt.conv2d(variables[0], filters, border, stride, dilation, groups, flip)
    assert half_known.type.shape == (None, 8, None, None)

    def conv(image, filters):
        return pt.conv2d(image, filters, border, stride, dilation, groups, flip)

    verify_grad(conv, [image[:1], filters], rng=rng, mode=REFERENCE_MODE)


@pytest.mark.parametrize("op_class", [ConvGradInput, ConvGradFilters])
@pytest.mark.parametrize("flip", [True, False])
def test_second_order(op_class, flip):
    rng = np.random.default_rng(3)
    image, filters = rng.normal(size=(1, 4, 6, 5)), rng.normal(size=(2, 2, 2, 3))
    properties = {
        "border_mode": ((1, 0), (0, 2)),
        "subsample": (2, 1),
        "filter_dilation": (1, 2),
        "num_groups": 2,
        "filter_flip": flip,
    }
    cotangent = rng.normal(size=Conv(**properties)(image, filters).type.shape)
    op = op_class(**properties)
    if op_class is ConvGradInput:
        values, function = [filters, cotangent], lambda w, g: op(image, w, g)
    else:
        values, function = [image, cotangent], lambda x, g: op(x, filters, g)
    verify_grad(function, values, rng=rng, mode=REFERENCE_MODE)


def test_gradients_compute_no_forward_convolution():
    variables = symbolic_pair(4)
    weights = pt.tensor4("weights")
    loss = (pt.conv2d(*variables) * weights).sum()
    gradients = pytensor.grad(loss, variables)
    f = pytensor.function([*variables, weights], gradients, mode="FAST_COMPILE")
    assert not any(isinstance(node.op, Conv) for node in f.maker.fgraph.apply_nodes)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dtype_is_kept(dtype):
    image, filters = symbolic_pair(4, dtype)
    out = pt.conv2d(image, filters, "half", (1, 2))
    grads = pytensor.grad(out.sum(dtype=dtype), [image, filters])
    rng = np.random.default_rng(4)
    values = [rng.normal(size=s).astype(dtype) for s in [(1, 2, 5, 4), (3, 2, 2, 3)]]
    f = pytensor.function([image, filters], [out, *grads], mode=REFERENCE_MODE)
    results = f(*values)
    assert {str(r.dtype) for r in results} == {v.type.dtype for v in (out, *grads)} == {dtype}
    expected = naive_conv(*values, ((1, 1), (1, 1)), (1, 2), (1, 1), 1, True)
    np.testing.assert_allclose(results[0], expected, rtol=1e-2, atol=1e-2)


def test_mixed_dtypes_are_promoted():
    out = pt.conv2d(pt.tensor4(dtype="float32"), pt.tensor4(dtype="float64"))
    assert out.type.dtype == "float64"


BAD_SHAPES = [
    ((1, 3, 5, 5), (2, 2, 3, 3), 1, "don't match an input of 3 channels"),
    ((1, 3, 5, 5), (2, 1, 3, 3), 2, "input's 3 channels don't divide into 2 groups"),
    ((1, 4, 5, 5), (3, 2, 3, 3), 2, "3 filters don't divide into 2 groups"),
    ((1, 2, 5, 2), (2, 2, 3, 3), 1, r"kernel \(size 3, dilation 1\) is larger than the padded"),
]


@pytest.mark.parametrize(("image", "filters", "groups", "message"), BAD_SHAPES)
def test_bad_shapes(image, filters, groups, message):
    values = np.ones(image), np.ones(filters)
    with pytest.raises(ValueError, match=message):
        pt.conv2d(*values, num_groups=groups)
    x, w = symbolic_pair(4)
    f = pytensor.function([x, w], pt.conv2d(x, w, num_groups=groups), mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match=message):
        f(*values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"filter_flip": "no"}, "conv2d: filter_flip must be True or False, got 'no'"),
        ({"border_mode": "same"}, "border_mode must be 'valid', 'half', 'full'"),
        ({"border_mode": -1}, "border_mode must be"),
        ({"border_mode": (1, 2, 3)}, "border_mode must be"),
        ({"border_mode": ((1, 2, 3), 1)}, "border_mode must be"),
        ({"border_mode": True}, "border_mode must be"),
        ({"border_mode": 1.5}, "border_mode must be"),
        ({"subsample": 0}, "subsample must be"),
        ({"subsample": (1, 2, 3)}, "subsample must be"),
        ({"filter_dilation": (1.0, 1)}, "filter_dilation must be"),
        ({"num_groups": 0}, "num_groups must be"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message) as error:
        pt.conv2d(*symbolic_pair(4), **arguments)
    assert "\n" not in str(error.value)


def test_bad_inputs():
    with pytest.raises(ValueError, match="conv2d: input must have 4 axes"):
        pt.conv2d(pt.tensor3(), pt.tensor4())
    with pytest.raises(TypeError, match="dtype int64; cast it first"):
        pt.conv2d(pt.tensor4(dtype="int64"), pt.tensor4())
    with pytest.raises(ValueError, match="conv1d: filters must have 3 axes, 1 of them spatial"):
        conv(pt.tensor3(), pt.tensor4())
    with pytest.raises(TypeError, match="conv3d: filters must be of a floating-point dtype"):
        conv(pt.tensor5(), pt.tensor5(dtype="int8"))


@pytest.mark.parametrize("n", [1, 3])
def test_public_functions_of_other_ranks(n):
    rng = np.random.default_rng(5)
    image = rng.normal(size=(2, 4, 5, 4, 6)[: n + 2])
    filters = rng.normal(size=(2, 2, 2, 1, 3)[: n + 2])
    pads, stride, dilation = ((1, 0), (0, 2), (1, 1))[:n], (2, 1, 3)[:n], (1, 2, 2)[:n]
    out = conv(image, filters, pads, stride, dilation, 2, False)
    expected = naive_conv(image, filters, pads, stride, dilation, 2, False)
    assert out.type.shape == expected.shape
    np.testing.assert_allclose(out.eval(mode=REFERENCE_MODE), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("function", "n"), [(conv, 1), (pt.conv2d, 2), (conv, 3)])
def test_errors_name_the_function(function, n):
    x, w = pt.tensor(shape=(None,) * (n + 2)), pt.tensor(shape=(None,) * (n + 2))
    for argument in ["border_mode", "subsample", "filter_dilation", "num_groups"]:
        with pytest.raises(ValueError, match=f"conv{n}d: {argument} must be .*got -1"):
            function(x, w, **{argument: -1})


@pytest.mark.parametrize("lengths", [(0, 3), (3, 0)])
def test_empty_kernel(lengths):
    image, filters = np.ones((1, 2, 5, 5)), np.ones((2, 2, *lengths))
    with pytest.raises(ValueError, match="conv2d: the kernel must have a length of at least 1"):
        pt.conv2d(image, filters, "half")
    variables = symbolic_pair(4)
    f = pytensor.function(variables, pt.conv2d(*variables, "half"), mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match="got filters with 0 along spatial axis"):
        f(image, filters)


def test_empty_image():
    with pytest.raises(ValueError, match=r"kernel .* is larger than the padded image \(size 0"):
        pt.conv2d(np.ones((1, 2, 0, 5)), np.ones((2, 2, 1, 3)))


@pytest.mark.parametrize("op_class", [ConvGradInput, ConvGradFilters])
def test_gradients_of_impossible_shapes(op_class):
    op = op_class(border_mode=((0, 0),) * 2, subsample=(2, 1), filter_dilation=(1, 1))
    values = np.ones((1, 2, 5, 4)), np.ones((3, 2, 2, 2)), np.ones((1, 3, 3, 3))
    message = r"conv2d: the gradient of the output must have shape \(1, 3, 2, 3\) .* got \(1, 3, 3"
    with pytest.raises(ValueError, match=message):
        op(*values)
    variables = [pt.tensor4() for _ in values]
    f = pytensor.function(variables, op(*variables), mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match=message):
        f(*values)


def test_infinity_nan_and_overflow_stay_in_their_windows():
    image = np.zeros((1, 1, 1, 7))
    image[..., 1], image[..., 5] = np.inf, np.nan
    out = pt.conv2d(image, np.ones((1, 1, 1, 2)), subsample=(1, 2))
    np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE)[0, 0, 0], [np.inf, 0, np.nan])
    # sums in single precision, rounded once
    half = np.array([60000.0, 60000.0, -60000.0], dtype="float16").reshape(1, 1, 3)
    out = conv(half, np.ones((1, 1, 3), dtype="float16"))
    np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE), [[[60000.0]]])


def test_one_pixel_and_stride_larger_than_the_kernel():
    rng = np.random.default_rng(6)
    image, filters = rng.normal(size=(2, 3, 1, 1)), rng.normal(size=(4, 3, 1, 1))
    out = pt.conv2d(image, filters, subsample=3).eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose(out[..., 0, 0], image[..., 0, 0] @ filters[..., 0, 0].T)
    image = rng.normal(size=(2, 3, 9, 8))
    out = pt.conv2d(image, filters, 1, (3, 5)).eval(mode=REFERENCE_MODE)
    expected = naive_conv(image, filters, ((1, 1), (1, 1)), (3, 5), (1, 1), 1, True)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_inputs_that_are_not_contiguous():
    rng = np.random.default_rng(7)
    image = rng.normal(size=(6, 5, 4, 2)).transpose(3, 2, 1, 0)[:, ::2, ::-1]
    filters = rng.normal(size=(3, 2, 2, 4)).transpose(3, 2, 1, 0)
    variables = symbolic_pair(4)
    f = pytensor.function(variables, pt.conv2d(*variables), mode=REFERENCE_MODE)
    expected = naive_conv(image, filters, ((0, 0),) * 2, (1, 1), (1, 1), 1, True)
    np.testing.assert_allclose(f(image, filters), expected, rtol=1e-12)
