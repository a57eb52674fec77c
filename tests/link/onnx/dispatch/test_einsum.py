import warnings

import numpy as np
import pytest

import pytensor.tensor as pt
from pytensor.link.onnx.errors import DroppedCheckWarning
from tests.link.onnx.test_basic import compare_onnx_and_py

RNG = np.random.default_rng(5)
SIZES = dict(zip("ijklb", (2, 3, 4, 5, 6), strict=True))
CASES = [
    "ij->ji", "ij->", "ii->i", "iij->j", "i,j->ij", "ij,jk,kl->il", "...ij,...jk->...ik", "ij,j"
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "is_static"), [("float32", False), ("int64", True)])
@pytest.mark.parametrize("subscripts", CASES)
def test_einsum(subscripts, dtype, is_static):
    terms = subscripts.split("->")[0].split(",")
    shapes = [
        sum(((7, 3) if c == "." else (SIZES[c],) for c in term.replace("...", ".")), ())
        for term in terms
    ]
    inputs = [
        pt.tensor(f"x{i}", dtype=dtype, shape=shape if is_static else (None,) * len(shape))
        for i, shape in enumerate(shapes)
    ]
    values = [RNG.integers(-9, 9, size=shape) for shape in shapes]
    # Sums over several axes of sizes that aren't static are checked by PyTensor.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedCheckWarning)
        compare_onnx_and_py(inputs, pt.einsum(subscripts, *inputs), values)
