"""No runtime is called wrong that isn't: on models of the catalogue, random graphs, networks."""

from itertools import islice

import pytest

from pytensor.link.onnx.compare.inputs import Case
from pytensor.link.onnx.compare.report import reports
from pytensor.link.onnx.compare.runtimes import LEVELS
from tests.link.onnx.compare.intact import of_catalogue, of_random_graphs
from tests.link.onnx.compare.public_models import NAMES, public_model

# PyTensor keeps room for all the steps that its loop may take, of which there are 2**31
TOO_LARGE = "ScalarLoop"


def alarms(models):
    """Return what is found of intact models, and how many there were."""
    found, count = [], 0
    for name, model, inputs in models:
        if name.startswith(TOO_LARGE):
            continue
        count += 1
        for one in reports(model, [Case(name, inputs)], list(LEVELS)):
            if one.wrong or one.grown:
                found.append(f"{name}, {one.runtime}: {one.node} {one.difference} {one.failure}")
    return found, count


@pytest.mark.slow
def test_small_models():
    found, count = alarms(
        [("ours", *public_model("ours")), *islice(of_catalogue(), 3, 100, 25), *of_random_graphs(2)]
    )
    assert count > 5
    assert found == []


@pytest.mark.long
def test_two_hundred_models_at_every_level():
    networks = [(name, *public_model(name)) for name in NAMES]
    found, count = alarms([*networks, *of_catalogue(), *of_random_graphs(60)])
    assert count > 200
    assert found == []
