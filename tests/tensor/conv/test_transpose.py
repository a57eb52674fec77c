import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.conv import conv, conv_transpose
from pytensor.tensor.conv.ops import Conv, ConvTranspose
from tests.tensor.conv.test_conv import symbolic_pair
from tests.utils import REFERENCE_MODE


def naive_conv_transpose(image, filters, pads, stride, dilation, groups, flip, more):
    """Let every pixel add its kernel, one multiplication at a time; `pads` are pairs."""
    if flip:
        filters = np.flip(filters, range(2, filters.ndim))
    out_group = filters.shape[1]
    spatial = [
        (size - 1) * s + (k - 1) * d + 1 + extra
        for size, k, s, d, extra in zip(
            image.shape[2:], filters.shape[2:], stride, dilation, more, strict=True
        )
    ]
    out = np.zeros((len(image), out_group * groups, *spatial))
    in_group = image.shape[1] // groups
    for b, c, *position in np.ndindex(*image.shape):
        for o, *tap in np.ndindex(*filters.shape[1:]):
            where = [
                p * s + t * d for p, s, t, d in zip(position, stride, tap, dilation, strict=True)
            ]
            channel = c // in_group * out_group + o
            out[(b, channel, *where)] += (
                np.float64(image[(b, c, *position)]) * filters[(c, o, *tap)]
            )
    crop = [slice(lo, size - hi) for size, (lo, hi) in zip(spatial, pads, strict=True)]
    return out[(..., *crop)]


# border_mode, the same as pairs for a kernel of 2 x 3, stride, dilation, groups, flip, padding
CASES = [
    ("valid", ((0, 0), (0, 0)), (1, 1), (1, 1), 1, True, 0),
    ("valid", ((0, 0), (0, 0)), (2, 3), (1, 2), 1, False, (1, 2)),
    ("half", ((1, 1), (1, 1)), (1, 2), (1, 1), 2, True, (0, 1)),
    ("full", ((2, 2), (2, 2)), (2, 1), (2, 1), 2, False, (1, 0)),
    (1, ((1, 1), (1, 1)), (3, 2), (1, 1), 4, True, (2, 0)),
    (((2, 0), (1, 3)), ((2, 0), (1, 3)), (2, 1), (2, 1), 4, False, 0),
    # padding of at least the stride: cells that no kernel reaches, and such that one does
    ("valid", ((0, 0), (0, 0)), (1, 2), (3, 5), 1, True, (2, 4)),
    ((0, (1, 3)), ((0, 0), (1, 3)), (2, 1), (1, 3), 2, False, (1, 2)),
]


@pytest.mark.parametrize(("border", "pads", "stride", "dilation", "groups", "flip", "more"), CASES)
def test_against_definition(border, pads, stride, dilation, groups, flip, more):
    rng = np.random.default_rng(0)
    image, filters = rng.normal(size=(2, 4, 4, 3)), rng.normal(size=(4, 3, 2, 3))
    pair = (more, more) if isinstance(more, int) else more
    expected = naive_conv_transpose(image, filters, pads, stride, dilation, groups, flip, pair)

    def transpose(image, filters):
        return conv_transpose(
            image, filters, border, stride, dilation, groups, flip, output_padding=more
        )

    variables = symbolic_pair(4)
    unknown = transpose(*variables)
    f = pytensor.function(variables, [unknown, unknown.shape], mode=REFERENCE_MODE)
    value, shape = f(image, filters)
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)
    assert tuple(shape) == expected.shape
    assert transpose(pt.constant(image), pt.constant(filters)).type.shape == expected.shape
    assert transpose(variables[0], filters).type.shape == (None, 3 * groups, None, None)
    verify_grad(transpose, [image[:1], filters], rng=rng, mode=REFERENCE_MODE)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_transpose_of_the_convolution(n):
    # <conv(x), y> == <x, conv_transpose(y)>
    rng = np.random.default_rng(1)
    stride, dilation, pads = (2, 3, 1)[:n], (1, 2, 2)[:n], ((1, 0), (0, 2), (1, 1))[:n]
    x = rng.normal(size=(2, 4, 6, 8, 5)[: n + 2])
    w = rng.normal(size=(6, 2, 3, 2, 2)[: n + 2])
    arguments = (pads, stride, dilation, 2)
    forward = conv(x, w, *arguments).eval(mode=REFERENCE_MODE)
    y = rng.normal(size=forward.shape)
    back = conv_transpose(y, w, *arguments, output_shape=x.shape[2:])
    assert back.type.shape == x.shape
    back = back.eval(mode=REFERENCE_MODE)
    np.testing.assert_allclose((forward * y).sum(), (x * back).sum(), rtol=1e-12)


@pytest.mark.parametrize("symbolic", [True, False])
def test_output_shape(symbolic):
    rng = np.random.default_rng(3)
    values = rng.normal(size=(2, 3, 4, 3)), rng.normal(size=(3, 2, 2, 3))
    variables = symbolic_pair(4) if symbolic else [pt.constant(v) for v in values]
    out = conv_transpose(*variables, (1, 0), (3, 2), output_shape=(11, 8))
    assert out.type.shape[2:] == (11, 8)
    expected = naive_conv_transpose(*values, ((1, 1), (0, 0)), (3, 2), (1, 1), 1, True, (2, 1))
    f = pytensor.function(variables if symbolic else [], out, mode=REFERENCE_MODE)
    np.testing.assert_allclose(f(*values) if symbolic else f(), expected, rtol=1e-12)
    if symbolic:
        with pytest.raises(ValueError, match=r"gradient of the output must have shape \(2, 3, 4"):
            f(values[0][:, :, :3], values[1])


def test_gradients_are_convolutions():
    variables, weights = symbolic_pair(4), pt.tensor4("weights")
    out = conv_transpose(*variables, subsample=2)
    gradients = pytensor.grad((out * weights).sum(), variables)
    f = pytensor.function([*variables, weights], gradients, mode="FAST_COMPILE")
    ops = [node.op for node in f.maker.fgraph.apply_nodes]
    assert any(isinstance(op, Conv) for op in ops)
    assert not any(isinstance(op, ConvTranspose) for op in ops)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dtype_is_kept(dtype):
    # with one output padding that becomes zeros after the input
    image, filters = symbolic_pair(4, dtype)
    out = conv_transpose(image, filters, filter_dilation=(1, 2), output_padding=(0, 1))
    gradients = pytensor.grad(out.sum(dtype=dtype), [image, filters])
    assert {v.type.dtype for v in (out, *gradients)} == {dtype}
    rng = np.random.default_rng(5)
    values = [rng.normal(size=s).astype(dtype) for s in [(1, 2, 4, 3), (2, 3, 2, 3)]]
    results = pytensor.function([image, filters], [out, *gradients], mode=REFERENCE_MODE)(*values)
    assert {str(r.dtype) for r in results} == {dtype}
    pads = ((0, 0), (0, 0))
    expected = naive_conv_transpose(*values, pads, (1, 1), (1, 2), 1, True, (0, 1))
    np.testing.assert_allclose(results[0], expected, rtol=1e-2, atol=1e-2)


def test_empty_batch():
    variables = symbolic_pair(4)
    out = conv_transpose(*variables, num_groups=2)
    outputs = [out, *pytensor.grad(out.sum(), variables)]
    f = pytensor.function(variables, outputs, mode=REFERENCE_MODE)
    value, grad_image, grad_filters = f(np.ones((0, 4, 5, 6)), np.ones((4, 2, 3, 2)))
    assert value.shape == (0, 4, 7, 7)
    assert grad_image.shape == (0, 4, 5, 6)
    np.testing.assert_array_equal(grad_filters, np.zeros((4, 2, 3, 2)))


def test_infinity_and_nan_stay_where_their_kernels_are():
    image = np.zeros((1, 1, 1, 4))
    image[..., 0], image[..., 3] = np.inf, np.nan
    out = conv_transpose(image, np.ones((1, 1, 1, 2)), subsample=(1, 3))
    expected = [np.inf, np.inf, 0, 0, 0, 0, 0, 0, 0, np.nan, np.nan]
    np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE)[0, 0, 0], expected)


def test_half_precision_is_summed_up_in_single():
    half = np.array([-60000.0, 60000.0, 60000.0, -60000.0], dtype="float16").reshape(1, 1, 4)
    out = conv_transpose(half, np.ones((1, 1, 3), dtype="float16"))
    # the third is 60000 + 60000 - 60000
    expected = [-60000, 0, 60000, 60000, 0, -60000]
    np.testing.assert_array_equal(out.eval(mode=REFERENCE_MODE)[0, 0], expected)


BAD_SHAPES = [
    ((1, 3, 5, 5), (2, 2, 3, 3), {}, r"filters for 2 channels \(their first axis\) don't match"),
    ((1, 3, 5, 5), (3, 1, 3, 3), {"num_groups": 2}, "3 channels don't divide into 2 groups"),
    ((1, 2, 1, 2), (2, 2, 3, 3), {"border_mode": (2, 0)}, r"padding \(2, 2\) takes away all of"),
    ((1, 2, 0, 2), (2, 2, 3, 3), {}, "input must have a length of at least 1"),
    ((1, 2, 1, 2), (2, 2, 3, 0), {}, "kernel must have a length of at least 1"),
]


@pytest.mark.parametrize(("image", "filters", "arguments", "message"), BAD_SHAPES)
def test_bad_shapes(image, filters, arguments, message):
    values = np.ones(image), np.ones(filters)
    with pytest.raises(ValueError, match=f"conv_transpose2d: .*{message}"):
        conv_transpose(*values, **arguments)
    variables = symbolic_pair(4)
    out = conv_transpose(*variables, **arguments)
    f = pytensor.function(variables, out, mode=REFERENCE_MODE)
    with pytest.raises(ValueError, match=f"conv_transpose2d: .*{message}"):
        f(*values)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"border_mode": "same"}, "border_mode must be 'valid', 'half', 'full'"),
        ({"subsample": 0}, "subsample must be an int or 2 ints of at least 1, got 0"),
        ({"num_groups": 1.5}, r"num_groups must be .* got 1\.5"),
        ({"output_padding": -1}, "output_padding must be an int or 2 ints of at least 0, got -1"),
        ({"output_padding": (1, 3), "subsample": 2, "filter_dilation": (1, 3)},
         r"output_padding must be less than .* \(2, 3\); got \(1, 3\)"),
        ({"output_shape": (3,)}, r"output_shape must be an int or 2 ints"),
        ({"output_shape": (3, 3), "output_padding": 1, "subsample": 2},
         "give output_padding or output_shape, not both"),
    ],
)  # fmt: skip
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=f"conv_transpose2d: {message}") as error:
        conv_transpose(*symbolic_pair(4), **arguments)
    assert "\n" not in str(error.value)


def test_impossible_output_shape():
    values = np.ones((1, 1, 4, 4)), np.ones((1, 1, 3, 3))
    with pytest.raises(ValueError, match=r"\(9, 12\) isn't possible .* axis 1: .*8 to 9"):
        conv_transpose(*values, subsample=(2, 1), filter_dilation=(1, 2), output_shape=(9, 12))
    with pytest.raises(ValueError, match="6 only"):
        conv_transpose(*values, output_shape=(7, 6))


def test_bad_inputs():
    with pytest.raises(ValueError, match="3 channels that the filters are for don't divide"):
        conv_transpose(pt.tensor4(), np.ones((3, 1, 2, 2)), num_groups=2)
    with pytest.raises(ValueError, match="conv_transpose1d: filters must have 3 axes"):
        conv_transpose(pt.tensor3(), pt.tensor4())
    with pytest.raises(ValueError, match="conv_transpose: the input must have axes after batch"):
        conv_transpose(pt.matrix(), pt.tensor4())
    with pytest.raises(ValueError, match="conv_transpose3d: filters must have 5 axes"):
        conv_transpose(pt.tensor5(), pt.tensor4())
    with pytest.raises(TypeError, match="conv_transpose1d: input must be of a floating-point"):
        conv_transpose(pt.tensor3(dtype="int64"), pt.tensor3())
    with pytest.raises(TypeError, match="filters"):
        conv_transpose(pt.tensor3(), pt.tensor3(dtype="complex128"))
