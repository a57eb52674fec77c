"""Names and sizes of a model's inputs and outputs."""

from collections.abc import Iterable, Mapping
from numbers import Integral

from pytensor.link.onnx.write.term import DTYPES
from pytensor.tensor.type import DenseTensorType, TensorType


def interface_names(inputs, outputs, input_names=None, output_names=None):
    """Return the names of all inputs and of all outputs, no two of which are the same.

    By default they are the variables' own; what has none, or one that is taken, is numbered.
    """
    taken = {}
    for argument, names in (("input_names", input_names), ("output_names", output_names)):
        for name in [names] if isinstance(names, str) else names or []:
            if not (isinstance(name, str) and name):
                raise ValueError(f"{argument} must be strings, got {name!r}")
            if name in taken:
                raise ValueError(
                    f"{argument}: {name!r} is in {taken[name]} already; a model has one set of "
                    "names for its inputs and outputs"
                )
            taken[name] = argument
    taken = set(taken)
    return (
        _names("input_names", input_names, inputs, "input", taken),
        _names("output_names", output_names, outputs, "output", taken),
    )


def _names(argument, names, variables, prefix, taken):
    if names is not None:
        names = [names] if isinstance(names, str) else list(names)
        if len(names) != len(variables):
            raise ValueError(f"{argument} must have {len(variables)} names, got {len(names)}")
        return names
    names = []
    for number, variable in enumerate(variables):
        base = variable.name or f"{prefix}_{number}"
        # An input that is returned as it is needs another name as an output.
        name = f"{base}_out" if prefix == "output" and base in taken else base
        name = f"{base}_{number}" if name in taken else name
        name = _free_name(name, taken)
        taken.add(name)
        names.append(name)
    return names


def input_dims(variables, names, dynamic_axes, output_names):
    """Return the sizes of the inputs: integers, and names where they are symbolic."""
    unknown = sorted(set(dynamic_axes) - {*names, *output_names})
    if unknown:
        raise ValueError(
            f"dynamic_axes names {unknown}, but the model has {[*names, *output_names]}"
        )
    chosen = {
        size_name
        for axes in dynamic_axes.values()
        if isinstance(axes, Mapping)
        for size_name in axes.values()
    }
    dims = {}
    for variable, name in zip(variables, names, strict=True):
        shape = getattr(variable.type, "shape", None)
        sparse = isinstance(variable.type, TensorType) and not isinstance(
            variable.type, DenseTensorType
        )
        if shape is None or sparse or variable.type.dtype not in DTYPES:
            raise TypeError(f"input {name!r} has type {variable.type}, which ONNX does not have")
        given = _axis_names(name, dynamic_axes.get(name, {}), len(shape))
        sizes = [
            _free_name(f"{name}_dim_{axis}", chosen) if size is None else size
            for axis, size in enumerate(shape)
        ]
        for axis, size_name in given.items():
            if shape[axis] is not None:
                raise ValueError(
                    f"dynamic_axes: axis {axis} of {name!r} has the fixed size {shape[axis]}; "
                    "build the graph with None there"
                )
            sizes[axis] = size_name
        dims[variable] = tuple(sizes)
    return dims


def _free_name(name, taken):
    while name in taken:
        name += "_"
    return name


def _axis_names(name, axes, ndim):
    """Map axes to the names of their sizes; if only their number is given, they get names."""
    if isinstance(axes, str) or not isinstance(axes, Mapping | Iterable):
        raise TypeError(
            f"dynamic_axes: {name!r} must have axes with the names of their sizes, {{0: 'N'}}, or "
            f"only axes, [0]; got {axes!r}"
        )
    if not isinstance(axes, Mapping):
        axes = dict.fromkeys(axes)
    named = {}
    for axis, size_name in axes.items():
        if not isinstance(axis, Integral) or not -ndim <= axis < ndim:
            raise ValueError(f"dynamic_axes: {name!r} has {ndim} axes, got axis {axis!r}")
        if size_name is not None and not (isinstance(size_name, str) and size_name):
            raise ValueError(
                f"dynamic_axes: the name of axis {axis} of {name!r} must be a string, "
                f"got {size_name!r}"
            )
        if axis % ndim in named:
            raise ValueError(f"dynamic_axes: axis {axis % ndim} of {name!r} is given twice")
        named[axis % ndim] = size_name or f"{name}_dim_{axis % ndim}"
    return named


def name_output_dims(graph, dynamic_axes):
    """Give the sizes of outputs the names that are asked for."""
    for name in graph.outputs:
        if name not in dynamic_axes or name in graph.inputs:
            continue
        shape = list(graph.values[name].shape)
        for axis, size_name in _axis_names(name, dynamic_axes[name], len(shape)).items():
            if isinstance(shape[axis], int):
                raise ValueError(
                    f"dynamic_axes: axis {axis} of {name!r} has the fixed size {shape[axis]}"
                )
            shape[axis] = size_name
        graph.values[name].shape = tuple(shape)
