"""A fitted PyMC model as one ONNX file, which predicts without PyMC, PyTensor or Python."""

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pymc.pytensorf import find_rng_nodes, reseed_rngs
from pymc.sampling.forward import vectorize_over_posterior

import pytensor.tensor as pt
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx import (
    DroppedCheckWarning,
    DroppedRandomStateWarning,
    MixedRowsWarning,
    export_onnx,
)  # fmt: skip
from pytensor.link.onnx.lowering.rows import find_mixed_rows, with_statistics_of
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.variable import TensorVariable

if TYPE_CHECKING:
    import onnx

__all__ = ["Inputs", "export_posterior_predictive"]


@dataclass
class Inputs:
    """Name what becomes inputs, where it is no ``pm.Data``: constants in the model's graph, say.

    Attributes
    ----------
    values : dict of str to ndarray
        By the names of the inputs, the model's own data, of as many rows each.
    dims : dict of str to tuple of str
        The names of their dims.  The first is the dim of the rows of what is predicted.
    replace : dict of Variable to Variable
        What in the model's graph they take the place of, and what is computed of `variables`.
    coords : dict of str to sequence
        Of dims that the model doesn't know.
    variables : dict of str to TensorVariable
        The inputs; the first axis is open.
    """

    values: dict[str, np.ndarray]
    dims: dict[str, tuple[str, ...]]
    replace: dict[Variable, Variable] = field(default_factory=dict)
    coords: dict[str, Sequence[Any]] = field(default_factory=dict)
    variables: dict[str, TensorVariable] = field(init=False)

    def __post_init__(self) -> None:
        self.variables = {
            name: pt.TensorType(value.dtype, (None, *value.shape[1:]))(name)
            for name, value in self.values.items()
        }


def export_posterior_predictive(
    model: Any, idata: Any, path: str | os.PathLike[str], data: Sequence[str] | Inputs,
    names: Iterable[str] | None = None, *, draws: int = 400,
    probabilities: Sequence[float] = (0.05, 0.5, 0.95), unknown: Sequence[str] = (),
    indexes: Mapping[str, str] | None = None,
    across_rows: Literal["request", "training"] | None = None, seed: int = 0, **options: Any,
) -> "onnx.ModelProto":  # fmt: skip
    """Write an ONNX model whose inputs are new data and whose outputs are predictions.

    Parameters
    ----------
    model : pymc.Model
        The fitted one, or another one whose free variables are in the posterior by name.
    idata : DataTree
        With the group ``posterior``.
    path : str or Path
    data : sequence of str, or Inputs
        The ``pm.Data`` that become inputs, of any size along their first dim.  Free variables along
        it are drawn again, given the others: their posterior is of the rows of the old data.
        `Inputs` say the same of what is no ``pm.Data``.
    names : sequence of str, optional
        What to predict: observed variables, which is the default, or deterministic ones.
    draws : int
        How many draws of the posterior to store, at most; evenly spread over all.
    probabilities : sequence of float
        Of the quantiles, each of which is one of the draws (NumPy's "inverted_cdf").
    unknown : sequence of str
        Dims that get one more entry, the last: a group that the data don't have, drawn from the
        prior of groups given the others' posterior.
    indexes : mapping of str to str, optional
        Data that count along a dim, and that dim: ``{"group": "groups"}``.  For the metadata alone,
        by which a page offers names instead of numbers.
    across_rows : {"request", "training"}, optional
        When to compute what depends on all rows, such as the mean by which the data are centred:
        for each request from its rows, or once from the data that the model has now.  By default
        for each request, with a warning that names it: a row's prediction depends on the others
        then.
    seed : int
        Each loading of the file begins with the same random numbers; each run has others.
    **options
        Of `export_onnx`.

    Returns
    -------
    onnx.ModelProto
        For each name of ``names`` it has the outputs ``NAME`` of shape (draws, ...),
        ``NAME_mean`` (...) and ``NAME_quantiles`` (probabilities, ...), and as metadata, in JSON,
        ``dims`` and ``coords``, ``probabilities``, ``indexes``, and the least and largest of the
        data in ``ranges``.

    Raises
    ------
    TypeError
        If the model has variables of ``pymc.dims``.
    ValueError
        If ``data``, ``names`` or ``unknown`` aren't in the model; if a variable has no dims, isn't
        in the posterior, or has no prior for an unknown group; if ``indexes`` names what isn't
        there; if ``across_rows="training"`` and the rows are mixed where each has a result of its
        own, as by a cumulative sum.
    """
    if named := [v.name for v in model.named_vars.values() if hasattr(v.type, "dims")]:
        raise TypeError(f"{named} are of pymc.dims; write pm.Normal(..., dims='row') and the like")
    names = list(names or [v.name for v in model.observed_RVs])
    data = data if isinstance(data, Inputs) else inputs_of(model, data)
    if wrong := [n for n in names if n not in model.named_vars]:
        raise ValueError(f"{wrong} are no variables of the model")
    if wrong := [d for d in unknown if d not in model.dim_lengths]:
        raise ValueError(f"unknown: {wrong} are no dims of the model, which has {[*model.coords]}")
    dims = data.dims | {n: model.named_vars_to_dims.get(n) for n in names}
    if without := [n for n, d in dims.items() if not d]:
        raise ValueError(f"{without} have no dims; give them some: pm.Normal(..., dims='row')")
    indexes, inputs = dict(indexes or {}), data.variables
    if wrong := [n for n, d in indexes.items() if n not in inputs or not model.coords.get(d)]:
        raise ValueError(f"indexes: {wrong} aren't among the data, or their dims have no coords")
    lengths = {dims[n][0]: v.shape[0] for n, v in inputs.items()}
    # Scalars of their own: vectorizing must not see that the sizes of draws come from the data
    # (thoughts/upstream/vectorized-sizes.md).
    sizes: dict[Any, Any] = {d: pt.scalar(d, dtype="int64") for d in lengths}

    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    known, stand_ins = replacements(model, sizes, unknown, posterior)
    outputs: Any = [model[n] for n in names]
    require_posterior(model, [*outputs, *data.replace.values()], sizes, stand_ins, posterior)
    computed = clone_replace([*data.replace.values()], stand_ins)
    stand_ins |= dict(zip(data.replace, computed, strict=True))
    outputs = clone_replace(outputs, stand_ins, rebuild_strict=False)
    outputs = settle_rows(outputs, {v: data.values[n] for n, v in inputs.items()}, across_rows)

    count = min(draws, posterior.sizes["sample"])
    spread = np.linspace(0, posterior.sizes["sample"], count, endpoint=False).astype(int)
    posterior = posterior.isel(sample=spread).map(
        lambda v: v.transpose("sample", *order_of_dims(model, v), ...)
    )
    outputs = sized_by_all_parameters(outputs, known)
    outputs = vectorize_over_posterior(outputs, posterior, known, sample_dims=["sample"])
    outputs = clone_replace(outputs, {size: lengths[d] for d, size in sizes.items()})
    reseed_rngs(find_rng_nodes(outputs), seed)

    results, axes = {}, {n: {0: dims[n][0]} for n in inputs}
    ranks = [max(int(np.ceil(p * count - 1e-9)), 1) - 1 for p in probabilities]
    for name, drawn in zip(names, outputs, strict=True):
        results[name] = drawn
        results[f"{name}_mean"] = drawn.mean(axis=0)
        results[f"{name}_quantiles"] = pt.sort(drawn, axis=0)[ranks]
    coords = model.coords | data.coords
    coords = {d: [*map(str, c)] for d, c in coords.items() if c and d not in sizes}
    for d in unknown:
        coords[d].append("unknown")
    about = {
        "dims": dims,
        "coords": coords,
        "probabilities": probabilities,
        "indexes": indexes,
        "ranges": {n: [v.min().item(), v.max().item()] for n, v in data.values.items()},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedCheckWarning)  # of the prior's parameters
        warnings.simplefilter("ignore", DroppedRandomStateWarning)  # see `seed`
        warnings.simplefilter("ignore", MixedRowsWarning)  # see `across_rows`
        return export_onnx(
            [*inputs.values()], [*results.values()], path, output_names=[*results],
            dynamic_axes=axes, metadata={k: json.dumps(v) for k, v in about.items()}, **options,
        )  # fmt: skip


def inputs_of(model: Any, names: Iterable[str]) -> Inputs:
    """Make inputs of ``pm.Data`` of the model, by their names."""
    known = [v.name for v in model.data_vars]
    if not known:
        raise ValueError(
            "the model has no pm.Data, so it has no inputs: its data are constants. Write "
            "x = pm.Data('x', x, dims='row') for data that each request brings; for a model of "
            "bambi, use export_bambi of examples/onnx/pymc_deploy/design.py"
        )
    if wrong := [n for n in names if n not in known]:
        raise ValueError(f"{wrong} are no pm.Data of the model, which has {known}")
    dims = {n: model.named_vars_to_dims.get(n) for n in names}
    inputs = Inputs({n: model[n].get_value() for n in names}, dims)
    inputs.replace = {model[n]: v for n, v in inputs.variables.items()}
    return inputs


def settle_rows(outputs: Any, values: Mapping[Any, np.ndarray], across_rows: str | None) -> Any:
    """Take what is computed of all rows from the data of `values`, or warn of it."""
    if across_rows not in (None, "request", "training"):
        raise ValueError(f"across_rows must be 'request' or 'training', got {across_rows!r}")
    outputs = rewrite_graph(outputs, include=["inline_ofg_expansion"])
    if across_rows == "training":
        return with_statistics_of(outputs, {v: pt.constant(a) for v, a in values.items()})
    mixed = find_mixed_rows(outputs, {v: v.name for v in values})
    if mixed.nodes and across_rows is None:
        warnings.warn(
            f"a row's prediction depends on the other rows of a request: {mixed}. "
            "across_rows='training' takes the value of the model's data instead; "
            "across_rows='request' says that it is meant",
            MixedRowsWarning,
            stacklevel=3,
        )
    return outputs


def sized_by_all_parameters(outputs: Any, known: Sequence[Any]) -> Any:
    """Give each draw's first parameter the shape of all: by it PyTensor sizes a vectorized draw.

    So StudentT of a constant nu and Binomial of a constant n can be vectorized
    (thoughts/upstream/vectorized-sizes.md).
    """
    graph = FunctionGraph(outputs=outputs, clone=False)
    nodes: Any = graph.toposort()
    draws = [node for node in nodes if isinstance(node.op, RandomVariable)]
    vectorized = {*known, *(output for node in draws for output in node.outputs)}
    for node in draws:
        rng, size, first, *others = node.inputs
        if vectorized.isdisjoint(ancestors([first])):
            axes, *other_axes = node.op.ndims_params
            for other, ndim in zip(others, other_axes, strict=True):
                entry = other[(..., *[0] * ndim)]
                first = pt.second(pt.shape_padright(entry, axes), first)
            new = node.op.make_node(rng, size, first, *others)
            graph.replace_all(zip(node.outputs, new.outputs, strict=True), import_missing=True)
    return graph.outputs


def replacements(model: Any, sizes: Any, unknown: Sequence[str], posterior: Any) -> Any:
    """Return the variables whose draws are stored, and what replaces what in the model's graph."""
    replace = {model.dim_lengths[d]: size for d, size in sizes.items()}
    # In the prior of an unknown group there is one group.
    known, new = [], {model.dim_lengths[d]: pt.constant(np.int64(1)) for d in unknown}
    for rv in stored_variables(model, sizes, posterior):
        along = model.named_vars_to_dims.get(rv.name) or ()
        known.append(rv.type(rv.name))
        replace[rv] = new[rv] = known[-1]
        if axes := [axis for axis, d in enumerate(along) if d in unknown]:
            axis, has_prior = axes[0], rv in model.free_RVs
            parameters = rv.owner.op.dist_params(rv.owner) if has_prior else ()
            same = has_prior and all(v.type.broadcastable[axis] for v in parameters)
            if len(axes) > 1 or not same:
                raise ValueError(f"{rv.name} has no prior that is the same all along {along[axis]}")
            new[rv] = clone_replace(rv, {k: v for k, v in new.items() if k is not rv})
            replace[rv] = pt.join(axis, known[-1], new[rv])
    return known, replace


def order_of_dims(model: Any, drawn: Any) -> Any:
    """Return the model's order of dims, which bambi's posteriors don't keep."""
    along = model.named_vars_to_dims.get(drawn.name) or ()
    return along if set(along) <= set(drawn.dims) else ()


def along_rows(model: Any, variable: Any, sizes: Any) -> bool:
    return not set(sizes).isdisjoint(model.named_vars_to_dims.get(variable.name) or ())


def stored_variables(model: Any, sizes: Any, posterior: Any) -> list[Any]:
    """List what the posterior has: free variables, and what is computed of those that it lacks.

    Where effects of groups are offsets times their spread, bambi's has effects and no offsets.
    """
    free = [rv for rv in model.free_RVs if not along_rows(model, rv, sizes)]
    lacking = [rv for rv in free if rv.name not in posterior]
    computed = [
        v for v in model.deterministics
        if v.name in posterior and not along_rows(model, v, sizes)
        and (v.ndim == 0 or model.named_vars_to_dims.get(v.name))  # whose size is known
        and not set(lacking).isdisjoint(ancestors([v]))
    ]  # fmt: skip
    return [*(rv for rv in free if rv not in lacking), *computed]


def require_posterior(model: Any, variables: Any, sizes: Any, stored: Any, posterior: Any) -> None:
    """Check that no free variable would be drawn from its prior but those along the rows."""
    reached = set(ancestors(variables, blockers={*stored}))
    lacking = [
        rv.name for rv in model.free_RVs
        if rv in reached and rv not in stored and not along_rows(model, rv, sizes)
    ]  # fmt: skip
    if lacking:
        raise ValueError(f"{lacking} aren't in the posterior, which has {sorted(posterior)}")
