"""A fitted model of bambi as one ONNX file: the columns of its design matrices are the inputs."""

import numpy as np

from pytensor.graph.basic import Constant
from pytensor.graph.traversal import ancestors
from pytensor.link.onnx.pymc import Inputs, export_posterior_predictive

ROWS = "__obs__"  # bambi's dim


def export_bambi(model, idata, path, names=None, **settings):
    """Write an ONNX model whose inputs are terms of a formula and whose outputs are predictions.

    Parameters
    ----------
    model : bambi.Model
        The fitted one.
    idata : DataTree
        What its ``fit`` has returned.
    path : str or Path
    names : sequence of str, optional
        What to predict: the response, which is the default, or parameters of it such as ``"mu"``.
    **settings
        Of `export_posterior_predictive`.

    Returns
    -------
    onnx.ModelProto
        Each term but the intercept is an input of its name, of shape (rows, columns): its part of
        the design matrix, which `new_design` makes.  Labels of the columns are in the metadata's
        ``coords``.  The outputs are `export_posterior_predictive`'s.

    Raises
    ------
    ValueError
        If the formula has no term but intercepts, or a Gaussian process with ``by=``; if what is to
        be predicted needs something else of each row: trials, weights, bounds.
    """
    names = list(names or [v.name for v in model.backend.model.observed_RVs])
    inputs = design_inputs(model)
    require_nothing_else(model, names, inputs)
    return export_posterior_predictive(model.backend.model, idata, path, inputs, names, **settings)


def new_design(model, data):
    """Make what a file of `export_bambi` takes.

    Parameters
    ----------
    model : bambi.Model
    data : pandas.DataFrame
        New rows, with the variables of the formula.  A group that the model doesn't know is an
        error of formulae; in the file, a row of zeros is a group without an effect of its own.

    Returns
    -------
    dict of str to ndarray
        By term, of shape (rows, columns).
    """
    return {name: columns for name, columns, _ in design_columns(model, data)}


def design_columns(model, data=None):
    """Yield name, columns and their labels for each term, of new `data` or the model's own."""
    for component in model.conditional_parameters.values():
        for design in filter(None, [component.design.common, component.design.group]):
            matrix = (design if data is None else design.evaluate_new_data(data)).design_matrix
            matrix = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
            # Not by formulae's slices, which count an intercept that bambi has taken out.
            ends = np.cumsum([(*np.shape(t.data), 1)[1] for t in design.terms.values()])
            parts = np.split(np.asarray(matrix, "float64"), ends[:-1], axis=1)
            for (key, term), columns in zip(design.terms.items(), parts, strict=True):
                if component.terms[key] is not component.intercept_term:
                    yield name_of(component.terms[key]), columns, term.labels


def name_of(term):
    return term.alias or term.name


def design_inputs(model):
    """Make inputs of the terms; a predictor computed of them takes the place of bambi's own."""
    values, dims, coords = {}, {}, {}
    for name, columns, labels in design_columns(model):
        values[name], dims[name] = columns, (ROWS, f"{name} columns")
        coords[dims[name][1]] = labels
    if not values:
        raise ValueError("the formula has no term but intercepts: there is nothing to be an input")
    inputs = Inputs(values, dims, coords=coords)
    for key, component in model.conditional_parameters.items():
        built = model.backend.distributional_components[key].output
        if any(term is not component.intercept_term for term in component.terms.values()):
            inputs.replace[built] = linear_predictor(model, component, inputs.variables)
    return inputs


def linear_predictor(model, component, inputs):
    """Return the sum of a component's terms, with the intercept of data that aren't centred.

    That intercept is what bambi's posterior has, whatever its PyMC model has been fitted with.
    """
    graph, total = model.backend.model, 0
    levels = model.response_term.coords  # of a response of several columns
    for key, term in component.terms.items():
        name = name_of(term)
        if term is component.intercept_term:
            total += graph[name]
        elif key in component.offset_terms:
            total += inputs[name][:, 0]
        elif key in component.hsgp_terms:
            total += basis(term, inputs[name]) @ graph[f"{name}_weights"]
        else:
            columns = inputs[name]
            sizes = (columns.type.shape[1], *([-1] if levels else []))
            total += columns @ graph[name].reshape(sizes)
    return total


def basis(term, columns):
    """Return the basis functions of an approximated Gaussian process, as `predict` has them."""
    if term.by_levels is not None:
        raise ValueError(f"{name_of(term)}: a Gaussian process with by= can't be exported")
    scale = term.maximum_distance if term.scale_predictors else 1
    return term.hsgp.prior_linearized((columns - term.mean) / scale)[0]


def require_nothing_else(model, names, inputs):
    """Check that the inputs are all that is needed, and that names mean what bambi's do."""
    if hasattr(model.family, "transform_mean") and (other := {*names} & {*model.parameters}):
        raise ValueError(
            f"{sorted(other)}: in the PyMC model of an ordinal response these are other numbers "
            "than from model.predict; predict the response itself"
        )
    graph, rows = model.backend.model, len(next(iter(inputs.values.values())))
    stop = {*graph.free_RVs, *inputs.replace}
    for name in names:
        for v in {*ancestors([graph[name]], blockers=stop)} - stop:
            if isinstance(v, Constant) and v.ndim and len(v.data) == rows:
                raise ValueError(
                    f"'{name}' needs something of each row that is no term of the formula: trials, "
                    "weights, bounds, or the reference level of a categorical response. Predict a "
                    "parameter that doesn't: names=['p']"
                )
