"""Asking for a shape computes no pixels: what each Op infers is a formula of its inputs' shapes."""

import numpy as np
import pytest

import pytensor
from pytensor.compile.mode import Mode
from pytensor.tensor.conv.lengths import (
    pool_output_length,
    started_window_count,
    window_count,
)
from tests.catalogue.operators import ACTIVATIONS, OPERATORS
from tests.tensor.ops import is_ours

# One of the combinations of a resize's attributes, of which lengths don't know
NAMES = [
    name
    for name in OPERATORS
    if name not in ACTIVATIONS and not (name.startswith("resize, ") and name.count(",") == 2)
]


@pytest.mark.parametrize("name", NAMES)
def test_a_shape_is_a_formula(name):
    example = OPERATORS[name]
    inputs, outputs, values = example.graph(order=1)
    shapes = pytensor.function(
        inputs, [v.shape for v in outputs], mode=Mode("py", "fast_run"), on_unused_input="ignore"
    )
    assert not [node for node in shapes.maker.fgraph.apply_nodes if is_ours(node.op)]
    static = [v.type.shape for v in example.outputs(*example.variables(known="all"))]
    gradients = [v.shape for v in values if v.dtype == "float64"]
    for shape, expected in zip(shapes(*values), [*static, *gradients], strict=False):
        assert len(shape) == len(expected)
        assert all(e in (None, n) for n, e in zip(shape, expected, strict=True))


def test_formulas_for_integers_and_for_variables_agree():
    for length, extent, stride, before, after in np.ndindex(12, 6, 4, 4, 4):
        axis = length, extent + 1, stride + 1, (before, after)
        assert started_window_count(*axis) == pool_output_length(*axis, False)
        assert max(window_count(*axis), 0) == pool_output_length(*axis, True)
