"""A share of the graphs that are drawn with values; Hypothesis makes those that fail small.

More of them: ``python -m tests.fuzz --values --graphs 10000 --out FILE.json``.
"""

import os

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

pytest.importorskip("onnx_ir")

from tests.catalogue.random_graphs.search import Drawn
from tests.fuzz.values import JUDGES, case_of, draw_case, judge

# The other tests' searches are smaller: theirs are single Ops.
EXAMPLES = {"dev": 40, "ci": 500, "thorough": 10_000}


@pytest.mark.slow
@settings(max_examples=EXAMPLES[os.environ.get("HYPOTHESIS_PROFILE", "dev")])
@given(st.data())
def test_graphs(data):
    case = draw_case(Drawn(data.draw))
    note(f"{case[0]}; {case[2]}")
    for name in JUDGES:
        judge(name, *case)


def test_a_number_is_a_graph():
    assert str(case_of(7)[0]) == str(case_of(7)[0]) != str(case_of(8)[0])
