"""A fitted PyMC model as one ONNX file, which predicts without PyMC, PyTensor or Python."""

import json
import warnings

import numpy as np
from pymc.pytensorf import find_rng_nodes, reseed_rngs
from pymc.sampling.forward import vectorize_over_posterior

import pytensor.tensor as pt
from pytensor.graph.replace import clone_replace
from pytensor.graph.rewriting.utils import rewrite_graph
from pytensor.link.onnx import (
    DroppedCheckWarning,
    DroppedRandomStateWarning,
    MixedRowsWarning,
    export_onnx,
)  # fmt: skip
from pytensor.link.onnx.rows import find_mixed_rows, with_statistics_of


def export_posterior_predictive(
    model, idata, path, data, names=None, *, draws=400, probabilities=(0.05, 0.5, 0.95),
    unknown=(), indexes=None, across_rows=None, seed=0, **options,
):  # fmt: skip
    """Write an ONNX model whose inputs are new data and whose outputs are predictions.

    Parameters
    ----------
    model : pymc.Model
        The fitted one, or another one whose free variables are in the posterior by name.
    idata : DataTree
        With the group ``posterior``.
    path : str or Path
    data : sequence of str
        The ``pm.Data`` that become inputs, of any size along their first dim.  Free variables along
        it are drawn anew, given the others: their posterior is of the rows of the old data.
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
        What is computed of all rows, such as the mean by which the data are centred: anew of those
        of each request, or once of the data that the model has now.  Without it, the first, with a
        warning that names what it is: a row's prediction depends on the others then.
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
    ValueError
        If ``data`` are no ``pm.Data`` of the model; if a variable has no dims, isn't in the
        posterior, or has no prior for an unknown group; if ``indexes`` names what isn't there; if
        ``across_rows="training"`` and the rows are mixed where each has a result of its own, as by
        a cumulative sum.
    """
    require_data(model, data)
    names = list(names or [v.name for v in model.observed_RVs])
    dims = {n: model.named_vars_to_dims.get(n) for n in [*data, *names]}
    if without := [n for n, d in dims.items() if not d]:
        raise ValueError(f"{without} have no dims; give them some: pm.Normal(..., dims='row')")
    indexes = dict(indexes or {})
    if wrong := [n for n, d in indexes.items() if n not in data or not model.coords.get(d)]:
        raise ValueError(f"indexes: {wrong} aren't among the data, or their dims have no coords")
    values = {n: model[n].get_value() for n in data}
    inputs = {
        model[n]: pt.tensor(n, dtype=v.dtype, shape=(None, *v.shape[1:])) for n, v in values.items()
    }
    lengths = {dims[n][0]: inputs[model[n]].shape[0] for n in data}
    # Scalars of their own: vectorizing must not see that the sizes of draws come from the data
    # (thoughts/upstream/vectorized-sizes.md).
    sizes = {d: pt.scalar(d, dtype="int64") for d in lengths}

    known, stand_ins = replacements(model, sizes, unknown)
    outputs = clone_replace([model[n] for n in names], inputs | stand_ins)
    outputs = settle_rows(outputs, {v: values[v.name] for v in inputs.values()}, across_rows)

    posterior = idata.posterior.to_dataset().stack(sample=("chain", "draw"))
    count = min(draws, posterior.sizes["sample"])
    spread = np.linspace(0, posterior.sizes["sample"], count, endpoint=False).astype(int)
    posterior = posterior.isel(sample=spread).transpose("sample", ...)
    if lacking := [v.name for v in known if v.name not in posterior]:
        raise ValueError(f"{lacking} aren't in the posterior, which has {sorted(posterior)}")
    outputs = vectorize_over_posterior(outputs, posterior, known, sample_dims=["sample"])
    outputs = clone_replace(outputs, {size: lengths[d] for d, size in sizes.items()})
    reseed_rngs(find_rng_nodes(outputs), seed)

    results, axes = {}, {n: {0: dims[n][0]} for n in data}
    ranks = [max(int(np.ceil(p * count - 1e-9)), 1) - 1 for p in probabilities]
    for name, drawn in zip(names, outputs, strict=True):
        results[name] = drawn
        results[f"{name}_mean"] = drawn.mean(axis=0)
        results[f"{name}_quantiles"] = pt.sort(drawn, axis=0)[ranks]
    coords = {d: [*map(str, c)] for d, c in model.coords.items() if c and d not in sizes}
    for d in unknown:
        coords[d].append("unknown")
    about = {
        "dims": dims,
        "coords": coords,
        "probabilities": probabilities,
        "indexes": indexes,
        "ranges": {n: [v.min().item(), v.max().item()] for n, v in values.items()},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DroppedCheckWarning)  # of the prior's parameters
        warnings.simplefilter("ignore", DroppedRandomStateWarning)  # see `seed`
        warnings.simplefilter("ignore", MixedRowsWarning)  # see `across_rows`
        return export_onnx(
            [*inputs.values()], [*results.values()], path, output_names=[*results],
            dynamic_axes=axes, metadata={k: json.dumps(v) for k, v in about.items()}, **options,
        )  # fmt: skip


def require_data(model, names):
    """Check that what shall become inputs is ``pm.Data`` of the model."""
    known = [v.name for v in model.data_vars]
    if not known:
        raise ValueError(
            "the model has no pm.Data, so nothing of it can become an input: its data, or the "
            "design matrices that bambi made of them, are constants. Write the model in PyMC, with "
            "x = pm.Data('x', x, dims='row') for what is new in each request"
        )
    if wrong := [n for n in names if n not in known]:
        raise ValueError(f"{wrong} are no pm.Data of the model, which has {known}")


def settle_rows(outputs, values, across_rows):
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


def replacements(model, sizes, unknown):
    """The free variables whose draws are stored, and what replaces what in the model's graph."""
    replace = {model.dim_lengths[d]: size for d, size in sizes.items()}
    # In the prior of an unknown group there is one group.
    known, new = [], {model.dim_lengths[d]: pt.constant(np.int64(1)) for d in unknown}
    for rv in model.free_RVs:
        along = model.named_vars_to_dims.get(rv.name) or ()
        if set(along) & set(sizes):
            continue
        known.append(rv.type(rv.name))
        replace[rv] = new[rv] = known[-1]
        if axes := [axis for axis, d in enumerate(along) if d in unknown]:
            axis, parameters = axes[0], rv.owner.op.dist_params(rv.owner)
            if len(axes) > 1 or not all(v.type.broadcastable[axis] for v in parameters):
                raise ValueError(f"{rv.name} has no prior that is the same all along {along[axis]}")
            new[rv] = clone_replace(rv, {k: v for k, v in new.items() if k is not rv})
            replace[rv] = pt.join(axis, known[-1], new[rv])
    return known, replace
