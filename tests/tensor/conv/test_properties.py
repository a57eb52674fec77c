"""Random attributes and shapes: the NumPy code against loops and SciPy, the backends against it."""

from math import prod

import numpy as np
import pytest
import scipy.signal
from hypothesis import given, settings
from hypothesis import strategies as st

import pytensor
import pytensor.tensor as pt
from pytensor.gradient import verify_grad
from pytensor.tensor.conv import im2col
from pytensor.tensor.conv.ops import Conv, ConvGradFilters, ConvGradInput, ConvTranspose
from tests.tensor.conv.test_conv import naive_conv
from tests.tensor.conv.test_transpose import naive_conv_transpose
from tests.utils import REFERENCE_MODE, compare_jax_and_py

SETTINGS = {"deadline": None, "derandomize": True}


@st.composite
def convolutions(draw, transposed=False):
    """Draw an Op, the shapes of its image and filters, and the lengths the graph shall know."""

    def each(low, high):
        return tuple(draw(st.integers(low, high)) for _ in range(n))

    n, groups = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    largest = 5 if n == 1 else 3
    kernel, dilation, stride = each(1, largest), each(1, 3), each(1, 3)
    pairs = tuple(zip(each(0, 2), each(0, 2), strict=True))
    op = Conv(
        border_mode=draw(st.sampled_from([pairs, "half", "full"])),
        subsample=stride,
        filter_dilation=dilation,
        num_groups=groups,
        filter_flip=draw(st.booleans()),
    )
    effective = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    pads = op.pads(kernel)
    batch, per_group, filters = draw(st.integers(0, 2)), *(draw(st.integers(1, 2)) for _ in "io")
    if transposed:
        more = tuple(draw(st.integers(0, s - 1)) for s in stride)
        op = ConvTranspose(
            **{name: getattr(op, name) for name in Conv.__props__}, output_padding=more
        )
        # the shortest input of which something is left
        spatial = [
            max(-(-(lo + hi + 1 - e - p) // s) + 1, 1) + extra
            for e, (lo, hi), s, p, extra in zip(
                effective, pads, stride, more, each(0, 3), strict=True
            )
        ]
        image = (batch, groups * filters, *spatial)
    else:
        spatial = [
            max(e - lo - hi, 1) + extra
            for e, (lo, hi), extra in zip(effective, pads, each(0, 4), strict=True)
        ]
        image = (batch, groups * per_group, *spatial)
    bank = (groups * filters, per_group, *kernel)
    known = [[draw(st.booleans()) for _ in shape] for shape in (image, bank)]
    return op, (image, bank), known


def variables_and_values(shapes, known, seed=0):
    rng = np.random.default_rng(seed)
    variables = [
        pt.tensor(name, shape=[n if k else None for n, k in zip(shape, fixed, strict=True)])
        for name, shape, fixed in zip(("image", "filters"), shapes, known, strict=True)
    ]
    return variables, [rng.normal(size=shape) for shape in shapes]


def by_definition(op, image, filters):
    arguments = (op.pads(filters.shape[2:]), op.subsample, op.filter_dilation, op.num_groups)
    if isinstance(op, ConvTranspose):
        return naive_conv_transpose(image, filters, *arguments, op.filter_flip, op.output_padding)
    return naive_conv(image, filters, *arguments, op.filter_flip)


@settings(max_examples=60, **SETTINGS)
@given(st.one_of(convolutions(), convolutions(transposed=True)))
def test_against_definition(convolution):
    op, shapes, known = convolution
    variables, values = variables_and_values(shapes, known)
    out = op(*variables)
    f = pytensor.function(variables, [out, out.shape], mode=REFERENCE_MODE)
    value, shape = f(*values)
    expected = by_definition(op, *values)
    np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-10)
    assert tuple(shape) == expected.shape
    for length, static in zip(expected.shape, out.type.shape, strict=True):
        assert static in (None, length)


@settings(max_examples=40, **SETTINGS)
@given(convolutions())
def test_against_scipy(convolution):
    op, shapes, known = convolution
    variables, (image, filters) = variables_and_values(shapes, known)
    value = pytensor.function(variables, op(*variables), mode=REFERENCE_MODE)(image, filters)
    padded = np.pad(image, ((0, 0), (0, 0), *op.pads(filters.shape[2:])))
    # the taps apart, then every stride-th of all positions
    taps = zip(filters.shape[2:], op.filter_dilation, strict=True)
    effective = [(k - 1) * d + 1 for k, d in taps]
    spread = np.zeros((*filters.shape[:2], *effective))
    spread[(..., *(slice(None, None, d) for d in op.filter_dilation))] = filters
    function = scipy.signal.convolve if op.filter_flip else scipy.signal.correlate
    per_group, out_group = filters.shape[1], len(filters) // op.num_groups
    for b, o in np.ndindex(*value.shape[:2]):
        first = o // out_group * per_group
        full = sum(
            function(padded[b, first + c], spread[o, c], mode="valid", method="direct")
            for c in range(per_group)
        )
        expected = full[tuple(slice(None, None, s) for s in op.subsample)]
        np.testing.assert_allclose(value[b, o], expected, rtol=1e-10, atol=1e-10)


@settings(max_examples=15, **SETTINGS)
@given(st.one_of(convolutions(), convolutions(transposed=True)))
def test_gradients(convolution):
    op, shapes, _ = convolution
    shapes = [(1, *shapes[0][1:]), shapes[1]]
    if sum(map(prod, shapes)) < 300:
        _, values = variables_and_values(shapes, [[True] * len(s) for s in shapes])
        verify_grad(op, values, rng=np.random.default_rng(0), mode=REFERENCE_MODE)


def with_gradients(op, variables):
    out = op(*variables)
    return [out, *pytensor.grad((out**2).sum(), variables)]


@pytest.mark.slow
@settings(max_examples=10, **SETTINGS)
@given(st.one_of(convolutions(), convolutions(transposed=True)))
def test_jax(convolution):
    pytest.importorskip("jax")
    op, shapes, known = convolution
    variables, values = variables_and_values(shapes, known)
    compare_jax_and_py(variables, with_gradients(op, variables), values, atol=1e-8)


@pytest.mark.slow
@settings(max_examples=4, **SETTINGS)
@given(st.one_of(convolutions(), convolutions(transposed=True)))
def test_numba(convolution):
    pytest.importorskip("numba")
    op, shapes, known = convolution
    variables, values = variables_and_values(shapes, known)
    outputs = with_gradients(op, variables)
    results = pytensor.function(variables, outputs, mode="NUMBA")(*values)
    expected = pytensor.function(variables, outputs, mode=REFERENCE_MODE)(*values)
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, wanted, rtol=1e-10, atol=1e-10)


@settings(max_examples=20, **SETTINGS)
@given(convolutions())
def test_images_one_at_a_time(convolution):
    # The same results where no two images' patches fit in the memory allowed
    op, (image, filters), _ = convolution
    image = (3, *image[1:])
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=image), rng.normal(size=filters)
    out = op(x, w)
    cotangent = rng.normal(size=out.type.shape)
    outputs = [
        out,
        op.like(ConvGradInput)(x, w, cotangent),
        op.like(ConvGradFilters)(x, w, cotangent),
    ]
    f = pytensor.function([], outputs, mode=REFERENCE_MODE)
    together = f()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(im2col, "PATCH_BYTES", 1)
        for one, several in zip(f(), together, strict=True):
            np.testing.assert_allclose(one, several, rtol=1e-10, atol=1e-10)
