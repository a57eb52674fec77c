import jax
import numpy as np

from pytensor.graph.basic import Constant
from pytensor.graph.fg import AbstractFunctionGraph, FrozenFunctionGraph
from pytensor.link.jax.dispatch.basic import jax_funcify, jax_typify
from pytensor.link.jax.tuned.building import paused_collection
from pytensor.link.utils import fgraph_to_python


@jax_funcify.register(AbstractFunctionGraph)
def jax_funcify_FunctionGraph(
    fgraph, node=None, fgraph_name="jax_funcified_fgraph", convert_node=None, **kwargs
):
    """As PyTensor's, with a choice of what converts the nodes: see `TunedJAXLinker`."""
    if convert_node is None:
        return fgraph_to_python(
            fgraph, jax_funcify, type_conversion_fn=jax_typify, fgraph_name=fgraph_name, **kwargs
        )
    converted = kwargs.setdefault("converted", {})
    # Nodes of one Op share their inner graph, and so its function.
    shared = isinstance(fgraph, FrozenFunctionGraph)
    key = fgraph, kwargs.get("squeeze_output", False)
    if shared and key in converted:
        return converted[key]
    function = _as_function(fgraph, convert_node, **kwargs)
    function.__name__ = function.__qualname__ = fgraph_name
    if shared:
        converted[key] = function
    return function


def _value(constant):
    """A constant's value for JAX."""
    data = constant.data
    if isinstance(data, np.ndarray) and data.ndim and data.dtype.kind in "biufc":
        # The array that PyTensor's conversion makes; but that runs a program to copy it.
        return jax.device_put(data)
    return jax_typify(data, variable=constant)


def _as_function(fgraph, convert_node, *, order=None, squeeze_output=False, **kwargs):
    """Convert a graph node by node, and return what calls the nodes' functions in order.

    PyTensor writes Python source instead.  That is faster to call, but only JAX's tracing calls it,
    and writing takes longer than tracing saves.  It also puts the values of all shared variables on
    the device, which come as arguments anyhow.
    """
    kwargs |= {"convert_node": convert_node, "within": fgraph}
    places, values = {}, []

    def place(variable):
        if variable not in places:
            places[variable] = len(values)
            values.append(_value(variable) if isinstance(variable, Constant) else None)
        return places[variable]

    inputs = [place(v) for v in fgraph.inputs]
    steps = [
        (
            convert_node(n.op, node=n, **kwargs),
            [place(v) for v in n.inputs],
            [place(v) for v in n.outputs],
        )
        for n in (fgraph.toposort() if order is None else order)
    ]
    outputs = [place(v) for v in fgraph.outputs]

    def function(*args):
        with paused_collection():
            return run(*args)

    def run(*args):
        slots = values.copy()
        for to, value in zip(inputs, args, strict=True):
            slots[to] = value
        for step, read, written in steps:
            results = step(*[slots[k] for k in read])
            if len(written) == 1:
                results = (results,)
            for to, value in zip(written, results, strict=True):
                slots[to] = value
        if squeeze_output and len(outputs) == 1:
            return slots[outputs[0]]
        return tuple(slots[k] for k in outputs)

    return function
