"""Inputs to compare runtimes with: random ones, edge values, and a model's own test data."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import onnx
from onnx import helper, numpy_helper
from pytensor.link.onnx.compare.exact import is_float, limits
from pytensor.link.onnx.compare.graph import ComparisonError, Model
from pytensor.tensor.batching import shapes_differ

OPEN = 2  # the length of an axis that the model leaves open


@dataclass
class Case:
    """Inputs by name, and what they are called in a report.

    With edge values a runtime may refuse what isn't defined.
    """

    name: str
    inputs: dict[str, np.ndarray]
    is_edge: bool = False


def ordinary_cases(
    model: Model, path: str | os.PathLike[str] | None, seed: int, sizes: Mapping[str, int]
) -> list[Case]:
    """Return the test data next to a model's file, or else one case of random inputs."""
    return _test_data(model, path) or [Case(f"random, seed {seed}", random(model, seed, sizes))]


def random(
    model: Model, seed: int, sizes: Mapping[str, int] | None = None, length: int = OPEN
) -> dict[str, np.ndarray]:
    """Draw inputs within the declared shapes and dtypes.

    Floats are normal, integers 0 or 1, which are within most tables.

    Parameters
    ----------
    model : Model
    seed : int
    sizes : dict of str to int, optional
        The lengths of axes that the model leaves open, by their names.
    length : int
        That of others.

    Raises
    ------
    ComparisonError
        If an input's shape isn't declared, or it is text; if `sizes` names no open axis.
    """
    axes = {d.dim_param for v in model.proto.graph.input for d in v.type.tensor_type.shape.dim}
    if wrong := [name for name in sizes or () if name not in axes]:
        raise ComparisonError(f"sizes: {wrong} are no open axes; the model has {sorted(axes)}")
    rng = np.random.default_rng(seed)
    found = {}
    for value in model.proto.graph.input:
        if value.name in model.constants:
            continue
        kind = value.type.tensor_type
        if not kind.HasField("shape") or kind.elem_type in (0, onnx.TensorProto.STRING):
            raise ComparisonError(
                f"the input {value.name!r} is of no shape and dtype that numbers can be drawn for: "
                f"give a file INPUTS.npz"
            )
        shape = [
            d.dim_value if d.dim_value > 0 else (sizes or {}).get(d.dim_param, length)
            for d in kind.shape.dim
        ]
        dtype = helper.tensor_dtype_to_np_dtype(kind.elem_type)
        drawn = rng.normal(size=shape) if is_float(dtype) else rng.integers(0, 2, shape)
        found[value.name] = np.asarray(drawn).astype(dtype)
    return found


def edge_cases(model: Model, seed: int, sizes: Mapping[str, int]) -> Iterator[Case]:
    """Yield inputs with edge values, and of the sizes 1 and 0 where axes are open."""
    base = random(model, seed, sizes)
    rng = np.random.default_rng(seed)

    def floats(function: Any) -> dict[str, np.ndarray]:
        return {k: function(x) if is_float(x.dtype) else x for k, x in base.items()}

    def some(value: float) -> Any:
        return lambda x: np.where(rng.uniform(size=x.shape) < 0.05, value, x).astype(x.dtype)

    # Only one input is made small: products of two would be 0
    first = next((name for name, x in base.items() if is_float(x.dtype)), None)
    small = dict(base)
    if first is not None:
        tiny = float(limits(base[first].dtype).tiny) / 4
        small[first] = (base[first].astype("float64") * tiny).astype(base[first].dtype)
    found = {
        "zeros": {k: np.zeros_like(x) for k, x in base.items()},
        "ties": floats(lambda x: (np.round(2 * x.astype("float64")) / 2).astype(x.dtype)),
        "denormals": small,
        "infinities": floats(lambda x: some(-np.inf)(some(np.inf)(x))),
        "NaN": floats(some(np.nan)),
    }
    if any(d.dim_value <= 0 for v in model.proto.graph.input for d in v.type.tensor_type.shape.dim):
        found["open axes of length 1"] = random(model, seed, length=1)
        found["open axes of length 0"] = random(model, seed, length=0)
    for name, inputs in found.items():
        yield Case(f"{name}, seed {seed}", inputs, is_edge=True)


def _test_data(model: Model, path: str | os.PathLike[str] | None) -> list[Case]:
    """Read the folders ``test_data_set_N`` next to a model, as the standard's models have them."""
    folders = sorted(Path(path).parent.glob("test_data_set_*")) if path is not None else []
    found = []
    for folder in folders:
        inputs = {}
        for number, name in enumerate(model.inputs):
            file = folder / f"input_{number}.pb"
            if not file.exists():
                raise ComparisonError(f"{folder} lacks {file.name}, the input {name!r}")
            inputs[name] = numpy_helper.to_array(onnx.load_tensor(file))
        found.append(Case(folder.name, inputs))
    return found


def read_inputs(model: Model, path: str | os.PathLike[str]) -> Case:
    """Read inputs from a file .npz.

    Raises
    ------
    ComparisonError
        If it isn't one, or hasn't the model's inputs.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            inputs = dict(file.items())
    except (OSError, ValueError, AttributeError) as error:
        raise ComparisonError(f"{os.fspath(path)}: no file .npz of inputs: {error}") from error
    return Case(Path(path).name, checked(model, inputs))


def checked(model: Model, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return inputs, which must be the model's."""
    if {*inputs} != {*model.inputs}:
        raise ComparisonError(
            f"the inputs are {sorted(inputs)}, the model's {sorted(model.inputs)}"
        )
    found = {name: np.asarray(inputs[name]) for name in model.inputs}
    for value in model.proto.graph.input:
        kind = value.type.tensor_type
        if value.name not in found or kind.elem_type in (0, onnx.TensorProto.STRING):
            continue
        array, dtype = found[value.name], helper.tensor_dtype_to_np_dtype(kind.elem_type)
        if array.dtype != dtype:
            raise ComparisonError(
                f"the input {value.name!r} is of dtype {array.dtype}, and the model's of {dtype}: "
                f"convert it by astype({dtype.name!r})"
            )
        if kind.HasField("shape"):
            wanted = [d.dim_value or None for d in kind.shape.dim]
            if shapes_differ([n if n and n > 0 else None for n in wanted], array.shape):
                raise ComparisonError(
                    f"the input {value.name!r} has the shape {array.shape}, and the model's "
                    f"{tuple(wanted)}"
                )
    return found
