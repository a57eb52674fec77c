import doctest
from importlib import import_module

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "batchnorm",
        "conv.abstract_conv",
        "conv.basic",
        "conv.ops",
        "nn",
        "normalization",
        "pool",
        "resize",
        "topk",
    ],
)
def test_examples(module):
    assert doctest.testmod(import_module(f"pytensor.tensor.{module}")).failed == 0
