"""For Ops that Numba runs through their NumPy code: BLAS, or sorting, takes the time."""

import numba

from pytensor.graph.basic import Apply
from pytensor.link.numba.dispatch.basic import get_numba_type, numba_njit
from pytensor.tensor.type import tensor

# Numba functions by Op and types of arguments; a network has many layers of the same.
_functions = {}


def numba_funcify_through_perform(op, node, **kwargs):
    # PyTensor would do the same unasked, with a warning per node that the Op has no Numba code.
    inputs, outputs = (
        tuple((v.type.dtype, v.type.ndim) for v in variables)
        for variables in (node.inputs, node.outputs)
    )
    key = (op, inputs, outputs)
    if key not in _functions:
        _functions[key] = _performing(*key)
    return _functions[key]


def _performing(op, inputs, outputs):
    # Numba pickles what `run` refers to.  The graph's own node would bring the whole graph along,
    # with the values of its shared variables.
    node = Apply(
        op,
        [tensor(dtype=dtype, shape=(None,) * ndim) for dtype, ndim in inputs],
        [tensor(dtype=dtype, shape=(None,) * ndim) for dtype, ndim in outputs],
    )
    types = [get_numba_type(v.type) for v in node.outputs]
    n_outputs = len(outputs)
    result_type = types[0] if n_outputs == 1 else numba.types.Tuple(types)

    def run(inputs):
        storage = [[None] for _ in range(n_outputs)]
        op.perform(node, inputs, storage)
        return storage[0][0] if n_outputs == 1 else tuple(cell[0] for cell in storage)

    @numba_njit
    def perform(*inputs):
        with numba.objmode(result=result_type):
            result = run(inputs)
        return result

    return perform
