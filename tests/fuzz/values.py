"""Graphs that are drawn with values: their export, and what comes back when it is imported.

Integers, indices and masks are among them, which `programs` has none of.
"""

import time

import numpy as np

from pytensor import config
from tests.catalogue.random_graphs.items import Seeded
from tests.catalogue.random_graphs.search import draw_graph
from tests.fuzz import round_trip
from tests.fuzz.compare import Verdict, summary
from tests.link.onnx.test_basic import compare_onnx_and_py
from tests.utils import REFERENCE_MODE

JUDGES = ("ONNX", "round trip")
IN_A_MODE = "round trip in "  # and its name


def draw_case(source):
    """Draw a graph, more outputs of it, and how it is exported.

    Parameters
    ----------
    source : Seeded or Drawn

    Returns
    -------
    graph : RandomGraph
    outputs : list of Variable
    options : dict
        For `export_onnx`.
    """
    graph = draw_graph(source)
    results = [item.variable for item in graph.items[len(graph.inputs) :]]
    more = [source.choice(results) for _ in range(source.integer(0, 2)) if results]
    options = {"opset_version": source.choice((18, 20, 24)), "optimize": source.chance()}
    return graph, [graph.items[-1].variable, *more], options


def judge(name, graph, outputs, options):
    """Raise an error if a judge finds a fault.

    Parameters
    ----------
    name : str
        One of `JUDGES`, or `IN_A_MODE` and the mode in which the imported graph is run.
    graph, outputs, options
        As `draw_case` returns them.
    """
    # Rewrites that fail are left out, as they are for users.
    with np.errstate(all="ignore"), config.change_flags(on_opt_error="ignore"):
        if name == "ONNX":
            compare_onnx_and_py(
                graph.inputs,
                outputs,
                [graph.computed[variable] for variable in graph.inputs],
                py_mode=round_trip.REWRITTEN if options["optimize"] else REFERENCE_MODE,
                exact=True,
                rtol=1e-4,
                atol=1e-4,
                **options,
            )
        else:
            mode = name.removeprefix(IN_A_MODE) if name.startswith(IN_A_MODE) else None
            round_trip.compare(graph, options, mode)


def case_of(number):
    """Return what `draw_case` draws for a number."""
    return draw_case(Seeded(np.random.default_rng([number, 5])))


class Judges:
    """Judges the graph of a number, as `compare.Comparison` does a program.

    Parameters
    ----------
    names : sequence of str
    """

    def __init__(self, names=JUDGES):
        self.names = names

    def __call__(self, number):
        verdict, case = Verdict(), case_of(number)
        for name in self.names:
            begun = time.process_time()
            try:
                judge(name, *case)
            # of the export, the import or a mode, each with its reason
            except NotImplementedError as error:
                verdict.refused[name] = summary(error)
            # whatever goes wrong with a graph is written down, and the next one is drawn
            except Exception as error:
                verdict.wrong[name] = summary(error)
            verdict.seconds[name] = time.process_time() - begun
        return verdict
