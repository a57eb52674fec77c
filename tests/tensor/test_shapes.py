"""Asking for a shape computes no pixels: what each Op infers is a formula of its inputs' shapes."""

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode
from pytensor.tensor.broadcasting import BroadcastAs, SumAs
from pytensor.tensor.conv.lengths import (
    pool_output_length,
    started_window_count,
    window_count,
)
from tests.link.operators import ACTIVATIONS, OPERATORS
from tests.tensor.ops import is_ours

IMAGE = (2, 3, 7, 6)
MORE = {
    "max_pool2d, indices": (lambda x: pt.nn.max_pool2d(x, 3, 2, return_indices=True)[1], [IMAGE]),
    "max_unpool2d": (
        lambda x: pt.nn.max_unpool2d(*pt.nn.max_pool2d(x, 2, return_indices=True), 2, 2),
        [IMAGE],
    ),
    "max_unpool2d, as the image": (
        lambda x: pt.nn.max_unpool2d(
            *pt.nn.max_pool2d(x, 2, 3, return_indices=True), 2, 3, output_size=x.shape
        ),
        [IMAGE],
    ),
    "adaptive_max_pool2d, indices": (
        lambda x: pt.nn.adaptive_max_pool2d(x, (2, None), return_indices=True)[1],
        [IMAGE],
    ),
    "lp_pool2d, ceil": (lambda x: pt.nn.lp_pool2d(x, 2, 3, 2, ceil_mode=True), [IMAGE]),
    "resize, not larger": (
        lambda x: pt.resize(x, size=(9, 4), keep_aspect_ratio_policy="not_larger"),
        [IMAGE],
    ),
    "topk, indices": (lambda x: pt.topk(x, 2, 0)[1], [(3, 4)]),
    "broadcast": (lambda x, y: BroadcastAs(axes=(-1, -3))(x, y), [(1, 3, 1), (2, 3, 4)]),
    "broadcast, its gradient": (lambda x, y: SumAs(axes=(-1, -3))(x, y), [(2, 3, 4), (1, 3, 1)]),
}
ALL = MORE | OPERATORS
# One of the combinations of a resize's attributes, of which lengths don't know
NAMES = [
    name
    for name in ALL
    if name not in ACTIVATIONS and not (name.startswith("resize, ") and name.count(",") == 2)
]


@pytest.mark.parametrize("name", NAMES)
def test_a_shape_is_a_formula(name):
    build, lengths = ALL[name]
    inputs = [pt.tensor(shape=(None,) * len(shape), dtype="float64") for shape in lengths]
    out = build(*inputs)
    outputs = [out]
    if out.type.dtype == "float64":
        outputs += pytensor.grad((out**2).sum(), inputs, disconnected_inputs="ignore")
    shapes = pytensor.function(
        inputs, [v.shape for v in outputs], mode=Mode("py", "fast_run"), on_unused_input="ignore"
    )
    assert not [node for node in shapes.maker.fgraph.apply_nodes if is_ours(node.op)]
    static = build(*(pt.tensor(shape=shape, dtype="float64") for shape in lengths)).type.shape
    for shape, expected in zip(shapes(*map(np.zeros, lengths)), [static, *lengths], strict=False):
        assert len(shape) == len(expected)
        assert all(e in (None, n) for n, e in zip(shape, expected, strict=True))


def test_formulas_for_integers_and_for_variables_agree():
    for length, extent, stride, before, after in np.ndindex(12, 6, 4, 4, 4):
        axis = length, extent + 1, stride + 1, (before, after)
        assert started_window_count(*axis) == pool_output_length(*axis, False)
        assert max(window_count(*axis), 0) == pool_output_length(*axis, True)
