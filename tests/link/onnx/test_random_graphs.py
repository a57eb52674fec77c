"""Whole graphs of the supported Ops, compared with the Python linker."""

import os

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from pytensor import config
from pytensor.compile.mode import Mode
from pytensor.link.onnx.lowering.rewriting import QUERY
from tests.catalogue.random_graphs.search import graphs
from tests.link.onnx.test_basic import compare_onnx_and_py
from tests.utils import REFERENCE_MODE

# The other tests' searches are smaller: theirs are single Ops.
EXAMPLES = {"dev": 60, "ci": 500, "thorough": 10_000}
# The model is of the graph that PyTensor's rewrites leave, and a few of those are wrong: of
# x == x, of switches added up, of what has no elements.
REWRITTEN = Mode("py", QUERY)


@pytest.mark.slow
@settings(max_examples=EXAMPLES[os.environ.get("HYPOTHESIS_PROFILE", "dev")])
@given(graphs(), st.data())
def test_graphs(graph, data):
    note(str(graph))
    results = [item.variable for item in graph.items[len(graph.inputs) :]]
    outputs = [graph.items[-1].variable]
    if results:
        outputs += data.draw(st.lists(st.sampled_from(results), max_size=2))
    optimize = data.draw(st.booleans())
    # Rewrites that fail are left out, as they are for users.
    with np.errstate(all="ignore"), config.change_flags(on_opt_error="ignore"):
        compare_onnx_and_py(
            graph.inputs,
            outputs,
            [graph.computed[variable] for variable in graph.inputs],
            opset_version=data.draw(st.sampled_from([18, 20, 24])),
            py_mode=REWRITTEN if optimize else REFERENCE_MODE,
            optimize=optimize,
            exact=True,
            rtol=1e-4,
            atol=1e-4,
        )
