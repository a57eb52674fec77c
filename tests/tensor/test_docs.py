"""The API pages are those of the docstrings, and the code in the migration tables is right."""

import re

import numpy as np
import pytest

import pytensor
import pytensor.tensor as pt
from docs.tools import api
from pytensor.graph.basic import Variable
from tests.utils import REFERENCE_MODE

MIGRATION = (api.OPERATORS.parent / "migration.md").read_text()


def test_pages_are_in_step():
    """Otherwise: python -m docs.tools.api"""
    made = api.pages()
    written = {path.name: path.read_text() for path in api.OPERATORS.iterdir()}
    assert written.keys() == made.keys()
    assert [name for name in made if made[name] != written[name]] == []


@pytest.mark.parametrize("name", api.NAMES)
def test_docstring_is_complete(name):
    assert api.missing_sections(getattr(pt, name)) == []


def test_every_function_has_its_names_elsewhere():
    assert sorted(api.ELSEWHERE) == sorted(api.NAMES)


def test_sections_of_a_docstring():
    lead, sections = api.split_sections(
        """Do it.

        Twice * two, ``a * b``.

        Parameters
        ----------
        x, y : tensor_like, shape (*batch, 3)
            One.

            Two.
        z
        """
    )
    assert api.escape(lead) == "Do it.\n\nTwice \\* two, ``a * b``."
    assert api.entries(sections["Parameters"]) == (
        "- **x, y**: tensor_like, shape (\\*batch, 3)\n\n  One.\n\n  Two.\n\n- **z**"
    )


def namespace():
    """The values that the migration tables are about."""
    names = {}
    exec(re.search(r"```python\n(.*?)```", MIGRATION, re.S)[1], names)
    return names


def table(title):
    """Rows of the table under a heading, as lists of cells without their code marks."""
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", MIGRATION, re.S | re.M)
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in lines]


def as_list(values):
    return list(values) if isinstance(values, list | tuple) else [values]


def evaluate(values):
    return [v.eval(mode=REFERENCE_MODE) if isinstance(v, Variable) else v for v in as_list(values)]


TORCH, ONNX = table("PyTorch"), table("ONNX")


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize("row", TORCH, ids=[row[0] for row in TORCH])
def test_torch(row):
    theirs, ours, _ = row
    names = namespace()
    actual = evaluate(eval(ours, names))
    torch = pytest.importorskip("torch")
    tensors = {k: torch.tensor(v) for k, v in names.items() if isinstance(v, np.ndarray)}
    expected = as_list(eval(theirs, {"F": torch.nn.functional, "torch": torch, **tensors}))
    assert len(actual) == len(expected)
    for a, e in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, e.numpy(), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("row", ONNX, ids=[row[0] for row in ONNX])
def test_onnx(row):
    pytest.importorskip("onnx")
    from pytensor.link.onnx import export_onnx

    operator, ours, is_node, _ = row
    names = namespace()
    x = pt.tensor("x", shape=(2, 4, 8, 6), dtype="float32")
    single = {
        k: v.astype("float32")
        for k, v in names.items()
        if isinstance(v, np.ndarray) and v.dtype == "float64"
    }
    with pytensor.config.change_flags(floatX="float32"):
        out = eval(ours, names | single | {"x": x})
        model = export_onnx([x], as_list(out), opset_version=24)
    operators = {node.op_type for node in model.graph.node}
    assert (operator.split(",")[0] in operators) == (is_node == "yes"), operators


def test_tables_name_every_operator():
    """Every operator stands in the tables of PyTorch and ONNX that its page says have it."""
    for library, rows in enumerate([TORCH, ONNX]):
        text = " ".join(row[1] for row in rows)
        for name, others in api.ELSEWHERE.items():
            if name.startswith("pool_"):  # Theano's arguments for what other names offer as well
                continue
            family = re.sub(r"[123]d", r"[123]d", name)
            assert others[library] is None or re.search(rf"pt\.{family}\(", text), name
