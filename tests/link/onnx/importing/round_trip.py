"""Random graphs, exported and imported, against the graphs themselves: results and gradients.

    python -m tests.link.onnx.importing.round_trip --graphs 10000 --jobs 2 [--start 0]
    python -m tests.link.onnx.importing.round_trip --graphs 300 --mode NUMBA
"""

import argparse
import warnings
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pool

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import pytensor
from pytensor import config, function
from pytensor.gradient import DisconnectedInputError, NullTypeGradError
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import UnsupportedOpError, export_onnx, from_onnx
from tests.link.onnx.random_graphs import FLOATS, graphs
from tests.utils import REFERENCE_MODE

SHARD = 100
UNDEFINED = (DisconnectedInputError, NotImplementedError, NullTypeGradError)
OPTIONS = st.fixed_dictionaries(
    {"opset_version": st.sampled_from([18, 20, 24]), "optimize": st.booleans()}
)


class Mismatch(AssertionError):
    """The imported graph computes something else."""


def compiled(inputs, outputs, mode):
    return function(inputs, outputs, mode=mode, on_unused_input="ignore")


def differentiable(graph):
    """The last result of floating point that depends on an input of floating point, or None."""
    floats = {v for v in graph.inputs if v.type.dtype in FLOATS}
    found = [i for i in graph.items[len(graph.inputs):] if i.kind == "f"]
    found = [i for i in reversed(found) if floats & set(ancestors([i.variable]))]
    return max(found, key=lambda i: (i.value.size > 0, not i.exact)).variable if found else None


def gradients(inputs, out, missing):
    weights = out.type()
    floats = [v for v in inputs if v.type.dtype in FLOATS]
    found = pytensor.grad((out * weights).sum(), floats, disconnected_inputs="ignore", return_disconnected=missing)
    return weights, found


def compare(graph, options, mode=REFERENCE_MODE, seed=0):
    wanted = [graph.items[-1].variable]
    cost = differentiable(graph)
    wanted += [] if cost is None else [cost]
    imported = from_onnx(export_onnx(graph.inputs, wanted, **options))
    inputs, outputs = list(imported.inputs.values()), list(imported.outputs.values())
    values = [graph.computed[variable] for variable in graph.inputs]
    expected = compiled(graph.inputs, wanted, REFERENCE_MODE)(*values)
    result = compiled(inputs, outputs, mode)(*values)
    for a, b in zip(result, expected, strict=True):
        check(a, b, 1e-4)
    if cost is None:
        return "no floating point"
    try:
        weights, native = gradients(graph.inputs, cost, "none")
    except UNDEFINED as error:
        return f"undefined: {type(error).__name__}"
    if not any(g is not None for g in native):
        return "disconnected"
    connected = [g is not None for g in native]
    their_weights, theirs = gradients(inputs, outputs[-1], "zero")
    native = compiled([*graph.inputs, weights], [cost, *(g for g in native if g is not None)], REFERENCE_MODE)
    theirs = compiled([*inputs, their_weights], [outputs[-1], *(g for g, c in zip(theirs, connected) if c)], mode)
    rng = np.random.default_rng(seed)
    moved = [v + rng.uniform(2**-11, 2**-10, v.shape).astype(v.dtype) if v.dtype.kind == "f" else v for v in values]
    w = rng.normal(size=expected[-1].shape).astype(expected[-1].dtype)
    nudged = [v * (1 + np.finfo(v.dtype).eps * rng.choice([-1, 1], v.shape)).astype(v.dtype) if v.dtype.kind == "f" else v for v in moved]
    try:
        expected = native(*moved, w)
        near = native(*nudged, w)
    except Exception as error:
        return f"refused when moved: {type(error).__name__}"
    result = theirs(*moved, w)
    for a, b, c in zip(result, expected, near, strict=True):
        check(a, b, 1e-4, near=c)
    return "compared" if any(g.any() for g in expected[1:]) else "compared, zero"


def check(result, expected, tolerance, near=None):
    if result.dtype != expected.dtype or result.shape != expected.shape:
        raise Mismatch(f"{result.dtype} {result.shape} for {expected.dtype} {expected.shape}")
    if near is None:
        ok = np.isclose(result, expected, rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        scale = np.max(np.abs(expected), initial=0)
        rounding = np.abs(near-expected).max(initial=0)
        ok = np.isclose(result, expected, rtol=tolerance, atol=tolerance*scale+30*rounding, equal_nan=True)
    if not ok.all():
        raise Mismatch(f"{'gradient ' if near is not None else ''}{result[~ok].flat[0]} for {expected[~ok].flat[0]}")


def shard(number, mode, count):
    import traceback
    out = []; steps=[]
    @seed(number)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(graphs(), OPTIONS)
    def run(graph, options):
        try:
            verdict = compare(graph, options, mode)
        except Exception as e:
            verdict = f"FAULT {number}/{len(out)} {type(e).__name__} {str(e)[:300]} | {graph.steps} {options}"
            if not isinstance(e, (Mismatch, NotImplementedError)):
                verdict += traceback.format_exc()[-1500:]
        out.append(verdict); steps.append(len(graph.steps))
    with config.change_flags(on_opt_error="ignore"), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
    print('mean steps', np.mean(steps)); return out


if __name__ == "__main__":
    import sys, time
    c = Counter()
    t=time.process_time()
    for s in range(int(sys.argv[1]), int(sys.argv[2])):
        for v in shard(s, REFERENCE_MODE, SHARD):
            if v.startswith("FAULT"): print(v, flush=True); v="FAULT"
            c[v]+=1
        print(c, (time.process_time()-t)/sum(c.values()), flush=True)
