"""What can be imported, found out by trying: the ONNX standard's own test cases, one by one.

    python -m docs.tools.onnx_import

runs every case, and nodes of each version of an operator, through `from_onnx` and writes the
tables into ``docs/onnx_import.md``, between its markers.  A test fails where a table is out of date
or a result is wrong.
"""

import re
from collections import Counter, defaultdict
from inspect import Parameter
from pathlib import Path
from typing import get_args

import onnx

from pytensor.link.onnx import ImportedModelError, ImportedOpError
from pytensor.link.onnx.importing.operators.refused import REFUSED
from pytensor.link.onnx.importing.registry import MICROSOFT, ML, operator_funcify
from tests.link.onnx.importing import official, versions
from tests.node_cases import node_cases

TABLE = Path(__file__).parents[1] / "onnx_import.md"
operator_funcify.load()


def operator_of(case):
    """Return the operator that a case is of: the last one in its name, of several in its model."""
    operators = {node.op_type for node in case.model.graph.node}
    if len(operators) == 1:
        return operators.pop()
    named = [o for o in operators if o.lower() in case.name.replace("_", "")]
    return max(named, key=len, default="models of several operators")


def groups():
    """Return each operator's cases; those that spell an operator out by others are its, too."""
    found = defaultdict(dict)
    for name, case in node_cases().items():
        if "_expanded" not in name:
            found[operator_of(case)][name] = case
    for name, case in node_cases().items():
        if "_expanded" in name:
            of = [o for o, cases in found.items() if name.split("_expanded")[0] in cases]
            found[of[0] if of else "models of several operators"][name] = case
    return dict(sorted(found.items()))


KNOWN = "sizes known"


def outcome(name, case):
    """Return why a case is refused, "" where it passes, or KNOWN where sizes must be constants.

    Raises
    ------
    AssertionError
        If its results differ from the standard's.
    """
    if reason := official.not_compared(name):
        return reason
    for integers_known in (False, True):
        try:
            official.run(case, integers_known=integers_known)
        except (ImportedOpError, ImportedModelError) as error:
            refusal = error
        else:
            return KNOWN if integers_known else ""
    return official.why_refused(refusal)


def row(operator, cases):
    """Return the table's line for an operator."""
    reasons = Counter(_short(outcome(name, case)) for name, case in cases.items())
    passed, known = reasons.pop("", 0), reasons.pop(KNOWN, 0)
    texts = "; ".join(f"{n}: {reason}" for reason, n in sorted(reasons.items()))
    return f"| {operator} | {len(cases)} | {passed} | {known or ''} | {texts} |"


def _short(reason):
    """Return a reason in the table, without the names of a single case."""
    text = re.sub(r"\s+", " ", reason).replace("|", "\\|")
    return re.sub(r"from_onnx: the (input|initializer) '\w*'", r"an \1", text)


# What the reasons have in common, in the order in which they are looked for
KINDS = {
    "no dtype for STRING|n-grams of text|no strings|two texts": "text, of which PyTensor has no "
    "tensors",
    "no dtype for": "element types that PyTensor lacks: bfloat16, floats of 8 and 4 bits, integers "
    "of 4 and 2",
    "no tensor whose number of axes": "inputs that are sequences or optional values",
    "no converter": "operators without a converter, or forms of them",
    "random": "random numbers, which differ from program to program",
    "decodes no files": "the decoding of image files",
    "reads the bits": "bits of floating-point numbers read as integers",
    "rounding errors": "results that aren't right in the standard's own cases",
}


def reasons_of(line):
    """Return the numbers and reasons in the last cell of a line of the table."""
    parts = re.split(r"(?:^|; )(\d+): ", line.split(" | ", 4)[4].removesuffix(" |"))[1:]
    return list(zip(map(int, parts[::2]), parts[1::2], strict=True))


def summary(lines):
    """Add up the table's lines, as text."""
    counts = [[int(cell.strip() or 0) for cell in line.split("|")[2:5]] for line in lines]
    total, passed, known = map(sum, zip(*counts, strict=True))
    kinds = Counter()
    for number, reason in (pair for line in lines for pair in reasons_of(line)):
        kinds[next(text for start, text in KINDS.items() if re.search(start, reason))] += number
    left = total - passed - known
    return [
        f"Of the {total:,} test cases of the ONNX standard (onnx {onnx.__version__}), {passed:,} "
        f"({passed / total:.1%}) are imported as",
        f"they are and give the standard's results and dtypes, {known} ({known / total:.1%}) with "
        f"inputs such as axes, sizes and",
        f"flags as constants, and {left} ({left / total:.1%}) are left out:",
        "",
        *(f"- {number}: {text}" for text, number in kinds.most_common()),
    ]


def versions_row(op_type):
    """Return the line of an operator in the table of versions.

    Raises
    ------
    AssertionError
        If one of its versions gives other results than wanted, or isn't refused as it should be.
    """
    found = versions.tried(op_type)
    assert not found.wrong, found.wrong
    of = {by: [str(v) for v in found.by if by in found.by[v]] for by in versions.SOURCES}
    refused = set().union(*found.reasons.values())
    others = [v for v in versions.history()[op_type] if not found.by[v] and v not in refused]
    cells = [", ".join(of[by]) for by in versions.SOURCES]
    remarks = [
        f"{', '.join(map(str, sorted(of_versions)))} refused: {_short(reason)}"
        for reason, of_versions in sorted(found.reasons.items())
    ]
    differs = ", ".join(str(v) for v in sorted(found.differs) if versions.TEXT in found.differs[v])
    remarks += [f"{differs}: onnxruntime differs from the text"] if differs else []
    remarks += [f"{', '.join(map(str, others))} not compared"] if others else []
    return f"| {op_type} | {' | '.join([*cells, '; '.join(remarks)])} |"


DOMAINS = {
    "": "ai.onnx",
    ML: "ai.onnx.ml",
    MICROSOFT: "com.microsoft, which onnxruntime's optimizer writes",
}


def _written(parameter):
    """Return a parameter as Python writes it, and the other values that it may have."""
    name = "*" * (parameter.kind is Parameter.VAR_POSITIONAL) + parameter.name
    default = "" if parameter.default is Parameter.empty else f"={parameter.default!r}"
    values = get_args(parameter.annotation)
    others = ", ".join(f"`{v!r}`" for v in values if v != parameter.default)
    if not values:
        return f"`{name}{default}`"
    return f"`{name}{default}` " + (f"({'or ' if default else ''}{others})" if others else "alone")


def signature_rows(op_type, domain):
    """Return the lines of an operator, one for each form that it has had."""
    rows = []
    for before, converter in operator_funcify.forms(op_type, domain).items():
        attributes = [p for _, p in sorted(converter.attributes.items())]
        cells = [", ".join(map(_written, ps)) for ps in (converter.inputs, attributes)]
        form = op_type if before is None else f"{op_type} before {before}"
        rows.append(f"| {form} | {' | '.join(cells)} |")
    return rows


def table_of_signatures():
    """Return the page's part on the inputs and attributes of all operators, as lines."""
    found = [entry for entry in sorted(operator_funcify.registry) if entry not in REFUSED]
    lines = []
    for domain, title in DOMAINS.items():
        lines += ["", f"| operator of {title} | inputs | attributes |", "| --- | --- | --- |"]
        for of, op_type in found:
            lines += signature_rows(op_type, domain) if of == domain else []
    return lines[1:]


def table_of_versions():
    """Return the page's part on what older versions of operators were compared with."""
    return [
        "| operator | " + " | ".join(versions.SOURCES) + " | remarks |",
        "| --- | --- | --- | --- | --- | --- |",
        *map(versions_row, versions.history()),
    ]


def table_of_cases():
    """Return the page's part on the standard's cases, as lines."""
    lines = [row(operator, cases) for operator, cases in groups().items()]
    schemas = {("", s.name) for s in onnx.defs.get_all_schemas() if s.domain == ""}
    own = schemas & operator_funcify.registry.keys() - REFUSED.keys()
    return [
        *summary(lines),
        "",
        f"{len(own)} of the {len(schemas)} operators of ai.onnx that the package lists have a "
        "converter.",
        "",
        "| operator | cases | pass | with constants | refused |",
        "| --- | --- | --- | --- | --- |",
        *lines,
    ]


PARTS = {"cases": table_of_cases, "signatures": table_of_signatures, "versions": table_of_versions}


def document():
    """Return the whole page: its text, and the parts between markers as they are today."""
    text = TABLE.read_text()
    for name, lines in PARTS.items():
        before, begin, rest = text.partition(f"<!-- {name} -->\n")
        _, end, after = rest.partition(f"<!-- /{name} -->\n")
        text = "\n".join([before + begin, *lines(), "", end + after])
    return text


if __name__ == "__main__":
    TABLE.write_text(document())
