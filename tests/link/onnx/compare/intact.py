"""Models that nothing is wrong with: of the catalogue, and random graphs."""

import warnings

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from docs.tools.onnx_support import attempt, export
from pytensor import config
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.link.onnx.compare.graph import Model
from tests.catalogue.ops import examples, random_examples
from tests.catalogue.random_graphs.search import graphs

# In this order: a row that has none of them isn't for numbers.
PREFERRED = ("float32", "int64", "int32", "bool", "float64")


def named(model, values):
    read = Model(model)
    pairs = zip([v.name for v in model.graph.input], map(np.asarray, values), strict=True)
    return read, dict(pairs)


def exported_examples():
    """Yield a name, a model, its inputs and PyTensor's results of each Op of the catalogue.

    It is of the first dtype that works; random variables are left out.
    """
    random = {example.name for example in random_examples()}
    for example in examples():
        for dtype in () if example.name in random else PREFERRED:
            found = attempt(example, dtype)
            if found is None:
                continue
            inputs, outputs, values, results = found
            try:
                model = export(inputs, outputs)
            except UnsupportedOpError:
                continue
            yield f"{example.name} {dtype}", model, values, results
            break


def of_catalogue():
    """Yield a name, a model and inputs of each Op of the catalogue that computes something."""
    for name, model, values, _ in exported_examples():
        yield name, *named(model, values)


def of_random_graphs(count):
    """Return so many random graphs, as models with inputs; the same ones each time."""
    found = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(graphs())
    def collect(graph):
        outputs = [graph.items[-1].variable]
        values = [graph.computed[variable] for variable in graph.inputs]
        with (
            np.errstate(all="ignore"),
            config.change_flags(on_opt_error="ignore"),
            warnings.catch_warnings(action="ignore"),
        ):
            model = export_onnx(graph.inputs, outputs)
        found.append((" -> ".join(step.operation for step in graph.steps), *named(model, values)))

    collect()
    return found
