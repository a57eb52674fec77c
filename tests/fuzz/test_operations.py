"""Every operation of the random graphs is drawn and computed; both ways to draw have theirs."""

import numpy as np
import pytest

import pytensor.tensor as pt
from tests.catalogue.random_graphs.items import Item, Seeded
from tests.catalogue.random_graphs.operations import OPERATIONS, draw_step
from tests.catalogue.random_graphs.programs import PUBLISHED, names_of, random_program

search = pytest.importorskip("tests.catalogue.random_graphs.search")

# Shapes and dtypes of inputs, of which each operation finds its operands in one
INPUTS = {
    "matrices": [((2, 3, 3), "f8"), ((2, 3, 3), "f8"), ((3, 3), "f8"), ((3,), "f8"), ((), "f8")],
    "long": [((2, 6, 8), "f8"), ((6, 8), "f8"), ((8,), "f8"), ((8,), "f8")],
    "images": [((2, 3, 8, 9), "f8"), ((3, 3, 3, 2), "f8")],
    "series": [((2, 3, 9), "f8"), ((4, 3, 3), "f8")],
    "integers": [((2, 3), "i8"), ((2, 3), "i8"), ((2,), "i8"), ((), "i8")],
    "masks": [((2, 3), "?"), ((2, 3), "f8"), ((2,), "?"), ((), "?")],
    "scalars": [((), "f4"), ((), "f4"), ((2,), "f4")],
}


def inputs_of(shapes):
    """Return a graph of inputs alone, whose values lie between 1/4 and 3."""
    graph, rng = search.RandomGraph(), np.random.default_rng(0)
    for shape, dtype in shapes:
        value = np.asarray(rng.integers(1, 13, shape) / 4 if "f" in dtype else 1, dtype)
        value = np.broadcast_to(value, shape).copy()
        variable = pt.tensor(dtype=value.dtype, shape=shape)
        graph.computed[variable] = value
        graph.keep(Item(variable, value))
    return graph


@pytest.mark.slow
@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name):
    """It is drawn for some of these inputs, and its result has the type that it says."""
    source = Seeded(np.random.default_rng(1))
    for shapes in INPUTS.values():
        graph = inputs_of(shapes)
        if name in graph.possible and (step := draw_step(source, graph.items, [name])):
            variable = step.apply([item.variable for item in graph.items])
            graph.add(variable, step.is_exact(graph.items))
            value = np.asarray(graph.computed[variable])
            assert value.dtype == variable.type.dtype
            assert variable.type.is_valid_value(value)
            return
    pytest.fail("none of the inputs fit")


def test_numbers_that_are_published_keep_their_graphs():
    """What the catalogue gains changes none of the first programs."""
    assert "catalogued" not in names_of(PUBLISHED - 1)
    assert "catalogued" in names_of(PUBLISHED)
    assert not any(OPERATIONS[name].of_values for name in names_of(PUBLISHED))
    assert [str(step) for step in random_program(0).steps] == [
        "join(v3, v3, 1)", "elementwise2(v3, v2, 'divide')", "softmax(v1, 2)"
    ]  # fmt: skip
    assert [str(step) for step in random_program(2).steps] == [
        "batched_dot(v1, v0)", "larger(v2, v2)"
    ]  # fmt: skip


def test_lengths_of_one_broadcast_only_where_the_type_knows_them():
    value = np.ones((1, 3))
    open_, known = (
        Item(pt.tensor(dtype="float64", shape=shape), value) for shape in [(None, 3), (1, 3)]
    )
    long = Item(pt.tensor(dtype="float64", shape=(None, 3)), np.ones((2, 3)))
    fits = OPERATIONS["multiply_add"].fits
    assert fits(known, long, long)
    assert fits(open_, known, open_)
    assert not fits(open_, long, known)
