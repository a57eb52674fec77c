"""Operators in each version that the standard has of them, through `from_onnx`.

    python -m tests.link.onnx.importing.versions [OPERATOR ...] [--all]

compares nodes of each version with onnxruntime, which implements old versions too, or with the
standard's text, evaluator and test cases.  The nodes are those of `old_forms`, and the standard's
own test cases with the number of the older opset: some of each operator, or `--all`.
"""

import argparse
import warnings
from collections import defaultdict
from functools import cache

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnxruntime.capi.onnxruntime_pybind11_state import (
    Fail,
    InvalidGraph,
    NotImplemented,
    RuntimeException,
)

from pytensor import function
from pytensor.link.onnx import ImportedModelError, ImportedOpError, from_onnx
from pytensor.tensor.basic import constant
from tests.link.onnx.importing import official, with_onnxruntime
from tests.link.onnx.importing.old_forms import CASES
from tests.node_cases import node_cases

NEWEST = 25  # the opset of the newest operators of ai.onnx that onnxruntime has
MOST = 4  # of the standard's cases of an operator are tried, without --all
RANDOM = ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform",
          "RandomUniformLike")  # fmt: skip
RUNTIME, TEXT = "onnxruntime", "the text"
RECORDED, EVALUATOR = "the standard's cases", "its evaluator"
SOURCES = (RUNTIME, TEXT, RECORDED, EVALUATOR)


@cache
def history():
    """Return the versions of each operator of ai.onnx with several, but of those that draw."""
    found = defaultdict(list)
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.deprecated:
            found[schema.name].append(schema.since_version)
    return {k: sorted(v) for k, v in sorted(found.items()) if len(v) > 1 and k not in RANDOM}


def version_at(op_type, opset):
    """Return the version of an operator that an opset has."""
    return max((v for v in history()[op_type] if v <= opset), default=None)


def tolerant(results, wanted):
    """Raise an AssertionError where results aren't those wanted."""
    results, wanted = ([*map(np.asarray, official.arrays(v))] for v in (results, wanted))
    assert len(results) >= len(wanted)
    for result, want in zip(results, wanted, strict=False):
        assert result.dtype == want.dtype, f"dtype {result.dtype}, should be {want.dtype}"
        assert result.shape == want.shape, f"shape {result.shape}, should be {want.shape}"
        np.testing.assert_allclose(result, want, rtol=1e-3, atol=1e-5)


def agree(results, wanted):
    """Return whether results are those wanted; neither are where nothing is known."""
    if wanted is None:
        return False
    try:
        tolerant(results, wanted)
    except AssertionError:
        return False
    return True


def imported(model, values):
    """Return a model's outputs through `from_onnx`, with integers as constants if needed."""
    for known in (False, True):
        constants = {
            name: constant(v)
            for name, v in values.items()
            if known and (v.dtype.kind in "iub" or v.ndim == 0 or name in KNOWN)
        }
        try:
            read = from_onnx(model, constants)
        except ImportedOpError:
            if known:
                raise
            continue
        inputs = [v for name, v in read.inputs.items() if name not in constants]
        outputs = list(official.arrays(read.outputs.values()))
        compute = function(inputs, outputs, mode=official.PYTHON, on_unused_input="ignore")
        return compute(*[v for name, v in values.items() if name not in constants])


# Names of what may have to be known though it is floating point
KNOWN = ("roi", "scales", "x1", "x2")


# What onnxruntime raises for versions and forms of operators that it lacks. Wrong inputs, which
# would be this program's fault, are InvalidArgument.
LACKING = (Fail, InvalidGraph, NotImplemented, RuntimeException)


def in_onnxruntime(model, values):
    """Return a model's outputs by onnxruntime, None if it has no such version."""
    try:
        return with_onnxruntime.in_onnxruntime(model, values.values(), log_severity=4)
    except LACKING:
        return None


def in_evaluator(model, values):
    """Return a model's outputs by the standard's own evaluator, None if it can't."""
    try:
        return ReferenceEvaluator(model).run(None, values)
    except (RuntimeError, TypeError):  # no such version; not in this form
        return None


def of_version(model, opset):
    """Copy a model, with another opset's number, in a format that onnxruntime reads."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for entry in copy.opset_import:
        if entry.domain == "":
            entry.version = opset
    copy.ir_version = min(copy.ir_version, 10)
    return copy


class Found:
    """What was found of an operator's versions."""

    def __init__(self, op_type):
        self.op_type = op_type
        self.by = defaultdict(set)  # of a version: what its results were compared with
        self.reasons = defaultdict(set)  # why nodes are refused: the versions
        self.differs = defaultdict(set)  # of a version: what onnxruntime differs from
        self.wrong = []

    def add(self, version, name, results, own, runtime, evaluator=None):
        """Compare results with the standard's own, and with those of a runtime where it has any."""
        for wanted, by in own:
            if wanted is not None:
                if not agree(results, wanted):
                    self.wrong.append(f"{name} in opset {version}: not {by}")
                self.by[version].add(by)
                if runtime is not None and not agree(runtime, wanted):
                    self.differs[version].add(by)
                return
        wanted, by = (runtime, RUNTIME) if runtime is not None else (evaluator, EVALUATOR)
        if wanted is None:
            return
        self.by[version].add(by)
        if not agree(results, wanted):
            self.wrong.append(f"{name} in opset {version}: not {by}")


def _try_form(case, version, found):
    """Compare a node of an old form."""
    model = case.model(version)
    values = dict(zip([v.name for v in model.graph.input], case.inputs, strict=True))
    try:
        results = imported(model, values)
    except (ImportedModelError, ImportedOpError) as error:
        reason = str(error)
        if case.refused and case.refused in reason:
            found.reasons[case.refused].add(version)
        else:
            found.wrong.append(f"{case.op_type} of opset {version}: refused: {reason}")
        return
    if case.refused:
        found.wrong.append(f"{case.op_type} of opset {version}: not refused: {case.refused}")
    found.add(version, str(case), results, [(case.wanted, TEXT)], in_onnxruntime(model, values))


def _try_case(case, op_type, version, found):
    """Compare one of the standard's cases, as a model of another opset."""
    own = next(v.version for v in case.model.opset_import if v.domain == "")
    model = of_version(case.model, version)
    given, wanted = case.data_sets[0]
    wanted = [official.array_of(v) for v in official.arrays(wanted)]
    if TEXT in found.differs[version]:
        return  # and the case would be compared with onnxruntime
    names = [v.name for v in model.graph.input]
    values = dict(zip(names, [np.asarray(official.array_of(v)) for v in given], strict=True))
    try:
        results = imported(model, values)
    except (ImportedModelError, ImportedOpError):
        return  # most old versions don't have the case's form
    runtime, evaluator = in_onnxruntime(model, values), None
    if version_at(op_type, own) == version:
        recorded = wanted
    elif runtime is None:
        # Which doesn't know what the old text says, but of what hasn't changed
        recorded = None
        evaluator = None if TEXT in found.by[version] else in_evaluator(model, values)
    else:
        # Where onnxruntime isn't right of the version that the case is of, it isn't asked of others
        now = in_onnxruntime(of_version(case.model, min(own, NEWEST)), values)
        recorded = None if now is None or agree(now, wanted) else wanted
    found.add(version, case.name, results, [(recorded, RECORDED)], runtime, evaluator)


def _is_array(value):
    return isinstance(official.array_of(value), np.ndarray | np.generic)


@cache
def _cases_of_operators():
    found = defaultdict(list)
    for name, case in node_cases().items():
        operators = {node.op_type for node in case.model.graph.node}
        values = [v for given, _ in case.data_sets for v in given]
        if "_expanded" not in name and len(operators) == 1 and all(map(_is_array, values)):
            found[operators.pop()].append(case)
    return found


def tried(op_type, most=MOST):
    """Return what is `Found` of an operator, with all cases of the standard or most so many."""
    found = Found(op_type)
    cases = _cases_of_operators()[op_type]
    cases = cases[:: -(-len(cases) // most) or 1] if most else cases
    with warnings.catch_warnings(action="ignore"):
        for version in history()[op_type]:
            for form in CASES:
                if form.op_type == op_type and form.first <= version <= form.last:
                    _try_form(form, version, found)
            for case in cases:
                _try_case(case, op_type, version, found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("operators", nargs="*", help="by default all")
    parser.add_argument("--all", action="store_true", help="all of the standard's cases")
    options = parser.parse_args()
    for op_type in options.operators or history():
        found = tried(op_type, None if options.all else MOST)
        for version in history()[op_type]:
            print(f"{op_type} {version}: {', '.join(sorted(found.by[version])) or 'nothing'}")
        for reason, versions in found.reasons.items():
            print(f"{op_type} {sorted(versions)}: refused: {reason}")
        for line in found.wrong:
            print("WRONG", line)


if __name__ == "__main__":
    main()
