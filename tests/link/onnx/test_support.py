"""The support table says what is so: each cell is tried again."""

import pytest

from docs.tools import onnx_support
from docs.tools.onnx_support import TABLE, document, try_cell
from pytensor.link.onnx import onnx_funcify
from pytensor.link.onnx.settings import OPSETS
from tests.catalogue.ops import DTYPES, covered_classes, examples

ROWS = {example.name: example for example in examples()}


def table_cells():
    """Map each row's name in the table to its cells by dtype."""
    lines = TABLE.read_text().splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines if line[:2] == "| "]
    return {name: dict(zip(DTYPES, rest, strict=True)) for name, *rest in cells[2:]}


def test_every_converter_has_a_row():
    onnx_funcify.load()
    # Other tests register Ops of their own.
    registered = {c for c in onnx_funcify.registry if c.__module__.startswith("pytensor.")}
    covered = covered_classes()
    missing = [
        op_class.__name__
        for op_class in registered
        if not any(issubclass(other, op_class) for other in covered)
    ]
    assert not missing


def test_the_table_has_every_row():
    assert list(table_cells()) == list(ROWS)


def test_the_guide_counts_pairs_and_rows():
    tried = [[cell for cell in row.values() if cell] for row in table_cells().values()]
    works = [[cell for cell in row if cell != "✗"] for row in tried]
    pairs, working = (sum(map(len, rows)) for rows in (tried, works))
    whole = sum(len(w) == len(t) for w, t in zip(works, tried, strict=True))
    guide = " ".join(TABLE.with_name("onnx.md").read_text().split())
    assert (
        f"Of its {pairs:,} pairs of an Op and a dtype, {working:,} "
        f"({working / pairs:.1%}) can be exported".replace("%)", " %)") in guide
    )
    assert f"Of its {len(tried)} Ops, {whole} can be exported with every dtype" in guide


@pytest.mark.parametrize("name", ROWS)
def test_row(name):
    """One of the dtypes, in turn, at the lowest or the highest operator set, and float32.

    `test_table` tries them all.
    """
    cells = table_cells()[name]
    fails = {OPSETS[0]: lambda cell: cell != "✓", OPSETS[-1]: lambda cell: cell == "✗"}
    for place, dtype in enumerate(DTYPES, [*ROWS].index(name)):
        if place % len(DTYPES) and dtype != "float32":
            continue
        opset = (OPSETS[0], OPSETS[-1])[place // len(DTYPES) % 2]
        result = try_cell(ROWS[name], dtype, [opset])
        assert (result is None) == (cells[dtype] == "")
        if result is not None:
            assert (opset in result) == fails[opset](cells[dtype])
    assert any(cell not in ("", "✗") for cell in cells.values()) or name in UNSUPPORTED


# Rows of Ops of PyTensor's for which there is no converter.
UNSUPPORTED = ("Complex", "Eig", "Fourier", "Hyp2F1", "Lstsq", "QZ", "Schur")


def test_only_the_named_rows_are_tried(monkeypatch, capsys):
    monkeypatch.setattr(onnx_support, "try_cell", lambda *_: {18: "too old"})
    before, after = (text.splitlines() for text in (TABLE.read_text(), document(["Abs"])))
    row = f"| Abs | {' | '.join(['19+'] * len(DTYPES))} |"
    assert {*after} - {*before} == {row, f"- Abs ({', '.join(DTYPES)}): too old"}
    assert len(after) == len(before) + 1
    with pytest.raises(SystemExit):
        onnx_support.main(["--rows", "Abs,Abz"])
    assert "--rows: there is no row Abz" in capsys.readouterr().err


@pytest.mark.long
def test_table():
    assert TABLE.read_text() == document(), "run python -m docs.tools.onnx_support"
