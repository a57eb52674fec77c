"""What can be imported, found out by trying: the ONNX standard's own test cases, one by one.

    python -m docs.tools.onnx_import

runs every case through `from_onnx` and writes the table in ``docs/onnx_import.md``.  A test
fails where the table is out of date, or a case gives other numbers than the standard.
"""

import re
from collections import Counter, defaultdict
from pathlib import Path

import onnx

from pytensor.link.onnx import ImportedModelError, ImportedOpError
from pytensor.link.onnx.importing.operators.refused import REFUSED
from pytensor.link.onnx.importing.registry import ML, registered
from tests.link.onnx.importing import official

TABLE = Path(__file__).parents[1] / "onnx_import.md"


def operator_of(case):
    """The operator that a case is of: the last one in its name where its model has several."""
    operators = {node.op_type for node in case.model.graph.node}
    if len(operators) == 1:
        return operators.pop()
    named = [o for o in operators if o.lower() in case.name.replace("_", "")]
    return max(named, key=len, default="models of several operators")


def groups():
    """The cases of each operator; those that spell an operator out by others are its, too."""
    found = defaultdict(dict)
    for name, case in official.cases().items():
        if "_expanded" not in name:
            found[operator_of(case)][name] = case
    for name, case in official.cases().items():
        if "_expanded" in name:
            of = [o for o, cases in found.items() if name.split("_expanded")[0] in cases]
            found[of[0] if of else "models of several operators"][name] = case
    return dict(sorted(found.items()))


# Cases whose results can't be those of the standard, and why.
NOT_COMPARED = {
    "bernoulli": "random numbers, which differ from runtime to runtime",
    "dft_inverse": "the standard's own results have rounding errors of 2e-7 where 0 is right",
}
KNOWN = "sizes known"


def outcome(name, case):
    """The reason why a case is refused, "" where it passes, or KNOWN where sizes must be constants.

    Raises
    ------
    AssertionError
        If its results aren't those of the standard.
    """
    for start, reason in NOT_COMPARED.items():
        if name.startswith(start):
            return reason
    for integers_known in (False, True):
        try:
            official.run(case, integers_known=integers_known)
        except (ImportedOpError, ImportedModelError) as error:
            refusal = error
        else:
            return KNOWN if integers_known else ""
    return refusal.failures[0][2] if isinstance(refusal, ImportedOpError) else str(refusal)


def row(operator, cases):
    """The table's line for an operator."""
    reasons = Counter(outcome(name, case) for name, case in cases.items())
    passed, known = reasons.pop("", 0), reasons.pop(KNOWN, 0)
    texts = "; ".join(f"{n}: {_short(reason)}" for reason, n in sorted(reasons.items()))
    return f"| {operator} | {len(cases)} | {passed} | {known or ''} | {texts} |"


def _short(reason):
    """A reason in the table, without the names of a single case."""
    text = re.sub(r"\s+", " ", reason).replace("|", "\\|")
    return re.sub(r"from_onnx: the (input|initializer) '\w*'", r"an \1", text)


def document():
    """The whole page."""
    lines = [row(operator, cases) for operator, cases in groups().items()]
    found = [entry for entry in registered() if entry not in REFUSED]
    others = [name for domain, name in found if domain not in ("", ML)]
    learning = [name for domain, name in found if domain == ML]
    counts = [[int(cell.strip() or 0) for cell in line.split("|")[2:5]] for line in lines]
    total, passed, known = map(sum, zip(*counts, strict=True))
    alien = sum(int(n) for line in lines for n in re.findall(r"(\d+): [^;|]*no dtype for", line))
    share = (passed + known) / (total - alien)
    schemas = {s.name for s in onnx.defs.get_all_schemas() if s.domain == ""}
    own = sorted(name for domain, name in found if not domain and name in schemas)
    return "\n".join(
        [
            "# What can be imported, by operator",
            "",
            "Made by `python -m docs.tools.onnx_import`, which runs the test cases of the ONNX",
            f"standard ({onnx.__version__}) through `from_onnx` and compares results and dtypes.",
            f"{passed:,} of {total:,} cases pass as they are, {known} with axes, sizes or flags as",
            "constants; the others are refused, for the reasons beside them.  Of the",
            f"{total - alien:,} cases whose dtypes PyTensor has, {share:.1%} pass.",
            f"{len(own)} of the {len(schemas)} operators of ai.onnx that the",
            "package lists have a converter.",
            "",
            "| operator | cases | pass | with constants | refused |",
            "| --- | --- | --- | --- | --- |",
            *lines,
            "",
            "Operators of ai.onnx.ml: " + ", ".join(learning) + ".",
            "",
            "Operators of com.microsoft, which onnxruntime's optimizer writes: "
            + ", ".join(others) + ".",
            "",
        ]
    )  # fmt: skip


if __name__ == "__main__":
    TABLE.write_text(document())
