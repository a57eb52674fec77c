"""Indices of all kinds, of which any number may be known only at run time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytensor.tensor as pt
from tests.link.onnx import strategies
from tests.link.onnx.test_basic import compare_onnx_and_py

WRITES = [
    pt.set_subtensor,
    pt.inc_subtensor,
    lambda x, y: pt.inc_subtensor(x, y, ignore_duplicates=True),
]


class Case:
    """Inputs of a graph and their values, some of which are drawn to be constants instead."""

    def __init__(self, data):
        self.draw = data.draw
        self.inputs, self.values = [], []

    def add(self, value, *, ones_are_static=False):
        value = np.asarray(value)
        shape = [
            size if (ones_are_static and size == 1) or self.draw(st.booleans()) else None
            for size in value.shape
        ]
        self.inputs.append(pt.tensor(f"i{len(self.inputs)}", dtype=value.dtype.name, shape=shape))
        self.values.append(value)
        return self.inputs[-1]

    def index(self, entries):
        return tuple(self._entry(entry) for entry in entries)

    def _entry(self, entry):
        if entry is None or entry is Ellipsis:
            return entry
        if isinstance(entry, slice):
            # PyTensor's own rewrites and shape inference fail for unsigned bounds.
            parts = (entry.start, entry.stop, entry.step)
            return slice(*(self._number(part, ["int64", "int8"]) for part in parts))
        if isinstance(entry, int):
            unsigned = ["uint8", "uint64"] * (entry >= 0)
            return self._number(entry, ["int64", "int8", *unsigned])
        # PyTensor takes a constant array without elements for one of integers.
        is_variable = self.draw(st.booleans()) or (entry.dtype == bool and not entry.size)
        return self.add(entry) if is_variable else entry

    def _number(self, number, dtypes):
        if number is None or self.draw(st.booleans()):
            return number
        return self.add(np.array(number, dtype=self.draw(st.sampled_from(dtypes))))


def draw_read(data, indices, simplify=lambda index: index):
    case = Case(data)
    array = data.draw(
        strategies.arrays(st.sampled_from(strategies.DTYPES), strategies.shapes()), label="array"
    )
    index = data.draw(indices(array.shape).map(simplify), label="index")
    return case, case.add(array)[case.index(index)], array, index


def without_lone_none(index):
    """Drop None from x[None]: PyTensor mistakes the axes of a value that is written to it."""
    whole = all(entry is None or entry is Ellipsis or is_full(entry) for entry in index)
    return tuple(entry for entry in index if entry is not None) if whole else index


def is_full(entry):
    return isinstance(entry, slice) and entry == slice(None)


KINDS = st.sampled_from([strategies.indices, strategies.basic_indices])


@given(kind=KINDS, data=st.data())
def test_read(kind, data):
    case, output, _, _ = draw_read(data, kind)
    compare_onnx_and_py(case.inputs, output, case.values, rtol=0, atol=0)


@pytest.mark.parametrize("write", WRITES, ids=["set", "inc", "inc_once"])
@given(kind=KINDS, data=st.data())
def test_write(kind, write, data):
    case, region, array, index = draw_read(data, kind, without_lone_none)
    shape = data.draw(strategies.broadcastable(array[index].shape))
    # Sums of float16 are rounded once in the model, at each step in NumPy.
    special = array.dtype != "float16" or write is pt.set_subtensor
    y = data.draw(strategies.arrays(array.dtype.name, shape, special=special), label="y")
    # PyTensor broadcasts some values along axes that might not be of size 1, and refuses others.
    y = case.add(y, ones_are_static=True)
    with np.errstate(over="ignore", invalid="ignore"):
        compare_onnx_and_py(case.inputs, write(region, y), case.values)


@given(array=strategies.arrays(st.sampled_from(strategies.DTYPES), strategies.shapes(min_dims=1)))
def test_nonzero(array):
    x = pt.tensor("x", dtype=array.dtype.name, shape=(None,) * array.ndim)
    compare_onnx_and_py([x], list(x.nonzero()), [array])
