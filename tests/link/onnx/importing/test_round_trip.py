"""Random graphs, exported and imported, compute what the graph itself computes."""

import os

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from pytensor import config, function

pytest.importorskip("onnx_ir")
link = pytest.importorskip("pytensor.link.onnx")
graphs = pytest.importorskip("tests.link.onnx.random_graphs").graphs
REFERENCE_MODE = pytest.importorskip("tests.utils").REFERENCE_MODE

EXAMPLES = {"dev": 30, "ci": 500, "thorough": 10_000}


@pytest.mark.slow
@settings(max_examples=EXAMPLES[os.environ.get("HYPOTHESIS_PROFILE", "dev")])
@given(graphs(), st.data())
def test_there_and_back(graph, data):
    note(" -> ".join(graph.steps))
    wanted = graph.items[-1].variable
    options = {
        "opset_version": data.draw(st.sampled_from([18, 20, 24])),
        "optimize": data.draw(st.booleans()),
    }
    with np.errstate(all="ignore"), config.change_flags(on_opt_error="ignore"):
        model = link.export_onnx(graph.inputs, [wanted], **options)
        imported = link.from_onnx(model)
        (found,) = imported.outputs.values()
        sides = (wanted, graph.inputs), (found, list(imported.inputs.values()))
        values = [graph.computed[variable] for variable in graph.inputs]
        expected, result = (
            function(inputs, out, mode=REFERENCE_MODE, on_unused_input="ignore")(*values)
            for out, inputs in sides
        )
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)
