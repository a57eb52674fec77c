"""Models that nothing is wrong with: of the catalogue, and random graphs."""

import warnings

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from docs.tools.onnx_support import attempt, export
from pytensor import config
from pytensor.link.onnx import UnsupportedOpError, export_onnx
from pytensor.link.onnx.compare.graph import Model
from tests.catalogue.ops import examples
from tests.catalogue.random_graphs.search import graphs

PREFERRED = ("float32", "int64", "bool", "float64")


def named(model, values):
    read = Model(model)
    pairs = zip([v.name for v in model.graph.input], map(np.asarray, values), strict=True)
    return read, dict(pairs)


def of_catalogue():
    """Yield a name, a model and inputs of each Op of the catalogue that computes something."""
    for example in examples():
        if example.name.startswith("random.") or "RV" in example.name:
            continue
        for dtype in PREFERRED:
            found = attempt(example, dtype)
            if found is None:
                continue
            inputs, outputs, values, _ = found
            try:
                model = export(inputs, outputs)
            except UnsupportedOpError:
                continue
            yield (f"{example.name} {dtype}", *named(model, values))
            break


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
