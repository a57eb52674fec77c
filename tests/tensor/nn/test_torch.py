"""Every function of `pt.nn` that PyTorch has, compared with it over drawn arguments."""

import json

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from tests.tensor.nn.torch_cases import (
    DRAWS,
    FUNCTIONS,
    RECORD,
    case,
    digest,
    fixed,
    torch_results,
)
from tests.utils import REFERENCE_MODE

NOT_IN_TORCH = {"global_avg_pool", "global_lp_pool", "global_max_pool"}


def results(name, number):
    """Return the results here of a drawn call, and the gradients that PyTorch would have."""
    arrays, how = case(name, number)
    variables = [
        pt.constant(v) if isinstance(v, np.ndarray) else v for v in (*arrays, *how.values())
    ]
    values, how = variables[: len(arrays)], dict(zip(how, variables[len(arrays) :], strict=True))
    if name == "ctc_loss":
        values[0] = pt.nn.log_softmax(values[0], -1)
    out = getattr(pt.nn, name.split()[0])(*values, **how)
    outputs = [v for v in out if v is not None] if isinstance(out, tuple | list) else [out]
    differentiated = variables
    if name in ("batch_norm", "instance_norm"):
        differentiated = [variables[0], *variables[3:]]
    differentiated = [v for v in differentiated if all(v is not how[k] for k in fixed(name, how))]
    wrt = [
        v
        for v in differentiated
        if isinstance(v, pt.TensorVariable) and v.type.dtype.startswith("float")
    ]
    if wrt:
        out = outputs[0]
        by_place = pt.cos(pt.arange(out.size)).reshape(out.shape)  # `weights` of open lengths
        cost = (out * by_place.astype(out.type.dtype)).sum()
        outputs += pytensor.grad(cost, wrt)
    return pytensor.function([], outputs, mode=REFERENCE_MODE)()


def test_every_function_is_drawn():
    assert {name.split()[0] for name in FUNCTIONS} == {*pt.nn.__all__} - NOT_IN_TORCH


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
def test_results_are_those_that_were_recorded(name):
    """Of PyTorch 2.13, which isn't needed here: the first drawn call of each function."""
    recorded = json.loads(RECORD.read_text())[name]
    for actual, expected in zip(digest(results(name, 0)), recorded, strict=True):
        assert actual[0] == expected[0]
        np.testing.assert_allclose(actual[1:], expected[1:], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("number", range(DRAWS))
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
def test_results_are_those_of_torch(name, number):
    pytest.importorskip("torch")
    for actual, expected in zip(results(name, number), torch_results(name, number), strict=True):
        assert actual.shape == expected.shape
        np.testing.assert_allclose(actual, expected, rtol=1e-7, atol=1e-9)
