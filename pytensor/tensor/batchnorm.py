"""Batch normalization, for inference and for training."""

import numbers
from collections.abc import Sequence
from typing import Any, Literal
from weakref import WeakValueDictionary

import numpy as np

from pytensor.compile.mode import optdb
from pytensor.gradient import DisconnectedType, disconnected_type
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.facts import Layout, improves_inside, layout, precision
from pytensor.graph.op import HasMultipleInnerGraph
from pytensor.graph.rewriting.basic import GraphRewriter, copy_stack_trace
from pytensor.graph.traversal import toposort
from pytensor.tensor import TensorLike
from pytensor.tensor.basic import as_tensor_variable, cast, switch
from pytensor.tensor.batching import batch_rule, leading_batch, shifted
from pytensor.tensor.math import eq, maximum
from pytensor.tensor.moments import (
    as_epsilon,
    as_floating_point,
    at_least_one,
    count,
    expand,
    half_in_single,
    inverse_std,
    moments,
    total,
)
from pytensor.tensor.pullback import GradientsOp, pullback_as_node
from pytensor.tensor.shape import specify_shape
from pytensor.tensor.symbolic import TensorSymbolicOp
from pytensor.tensor.variable import TensorVariable

type Axes = Literal["spatial", "per-activation"] | int | tuple[int, ...] | list[int]

# Kept as long as some graph has them
_built: WeakValueDictionary[Any, Any] = WeakValueDictionary()


class _OverAxes:
    """Shared by the Ops below: reduced `axes`, and `epsilon` added to the variance.

    Parameters and statistics have the axes that aren't reduced, in their order: ``(channels,)``
    for images normalized over ``axes=(0, 2, 3)``.
    """

    __props__: tuple[str, ...] = ("axes", "epsilon")

    def __call__(self, *inputs, **kwargs):
        inputs = self.filter_inputs(*inputs)
        op = self._for_types(tuple(v.type for v in inputs))
        return super(_OverAxes, op).__call__(*inputs, **kwargs)

    def _for_types(self, types):
        """Return the Op with an inner graph for inputs of these types.

        Building that takes a while, and a network has many normalizations of the same shapes.
        """
        if self._init_kwargs or (hasattr(self, "fgraph") and types == tuple(self.input_types)):
            return self
        props = {name: getattr(self, name) for name in self.__props__}
        key = type(self), types, *props.values()
        if (op := _built.get(key)) is None:
            op = _built[key] = type(self)(input_types=list(types), **props)
        return op

    def over(self, axes):
        """Return the same Op with other axes reduced."""
        props = {name: getattr(self, name) for name in self.__props__}
        return type(self)(**props | {"axes": axes})

    def infer_shape(self, node, shapes):
        # The inner graph's own shapes would carry checks, which a traced shape can't have
        kept = tuple(n for a, n in enumerate(shapes[0]) if a not in self.axes)
        return [shapes[0] if out.type.ndim == len(shapes[0]) else kept for out in node.outputs]


class BatchNormalization(_OverAxes, TensorSymbolicOp):
    """Normalize with given statistics."""

    # Listed here again: PyTensor gives an Op a name that needs no inner graph only if its own
    # class lists properties.
    __props__ = _OverAxes.__props__

    def is_per_channel(self, ndim):
        """Return whether an input of `ndim` axes has parameters for each entry of its second."""
        return self.axes == tuple(a for a in range(ndim) if a != 1)

    @half_in_single
    def build_inner_graph(self, x, gamma, beta, mean, variance):
        gamma, beta, mean, inverse = (
            expand(v, self.axes, x.type.ndim)
            for v in (gamma, beta, mean, inverse_std(variance, self.epsilon))
        )
        return [(x - mean) * (inverse * gamma) + beta]

    def pullback(self, inputs, outputs, cotangents):
        return pullback_as_node(self, inputs, cotangents)


class BatchNormalizationTrain(_OverAxes, TensorSymbolicOp):
    """Normalize with the batch's own statistics.

    Inputs (x, gamma, beta), and the running mean and variance where the properties of that name
    are True; outputs (out, mean, biased variance), and the new running statistics.  These are
    outputs, and not computed by the caller, because inside the inner graph the number of elements
    is that of an input, which is known while a backend traces; and so the inference form can be
    made only of the node.
    """

    __props__ = (
        "axes",
        "epsilon",
        "running_average_factor",
        "running_var_ddof",
        "running_mean",
        "running_var",
    )

    @half_in_single
    def build_inner_graph(self, x, gamma, beta, *running):
        ndim, axes = x.type.ndim, self.axes
        number = count(x, axes)
        mean, centred, variance = moments(x, axes, number)
        scale = expand(inverse_std(variance, self.epsilon) * gamma, axes, ndim)
        out = centred * scale + expand(beta, axes, ndim)
        return [out, mean, variance, *self.new_running(number, mean, variance, *running)]

    def new_running(self, number, mean, variance, *running):
        """Return the new running statistics from a batch of `number` elements."""
        statistics = self._where_running(mean, variance * self._correction(number))
        keep, factor = self._weights(number)
        return [old * keep + v * factor for old, v in zip(running, statistics, strict=True)]

    def _where_running(self, of_mean, of_variance):
        return [of_mean] * self.running_mean + [of_variance] * self.running_var

    def _correction(self, number):
        """Return what turns the biased variance into the one of `running_var_ddof`."""
        dtype = number.type.dtype
        one = np.asarray(1, dtype=dtype)
        if not self.running_var_ddof:
            return one
        # 1 for a single element
        return number / maximum(number - one, one)

    def _weights(self, number):
        """Return what the old and the new value count; an empty batch changes nothing."""
        factor, keep, one = (
            np.asarray(v, dtype=number.type.dtype)
            for v in (self.running_average_factor, 1 - self.running_average_factor, 1)
        )
        if isinstance(number, Constant):
            return keep if number.data else one, factor
        return switch(eq(number, 0), one, keep), factor

    def pullback(self, inputs, outputs, cotangents):
        x, gamma, *_ = inputs
        _, mean, variance, *_ = outputs
        g_out, g_mean, g_variance, *g_running = cotangents
        axes, ndim, dtype = self.axes, x.type.ndim, x.type.dtype
        if dtype == "float16":
            # Not the outputs: a variance above 65,504 is infinite there
            mean, _, variance = moments(cast(x, "float32"), axes, count(x, axes))
        if isinstance(g_out.type, DisconnectedType):
            # The statistics depend only on x
            g_x, g_gamma, g_beta = x.zeros_like(), disconnected_type(), disconnected_type()
        else:
            backward = BatchNormalizationTrainGrad(axes=axes, epsilon=self.epsilon)
            g_x, g_gamma, g_beta = backward(x, gamma, mean, variance, g_out)
        number = count(x, axes)
        divisor = at_least_one(number)
        keep, factor = self._weights(number)
        one, two = (np.asarray(v, dtype=number.type.dtype) for v in (1, 2))
        weights = self._where_running(factor, factor * self._correction(number))
        statistics = [(g_mean, one, False), (g_variance, one, True)]
        statistics += zip(g_running, weights, self._where_running(False, True), strict=True)
        for g, weight, of_variance in statistics:
            if isinstance(g.type, DisconnectedType):
                continue
            if of_variance:
                centred = x - expand(mean, axes, ndim)
                g_x = g_x + expand(g * (two * weight / divisor), axes, ndim) * centred
            else:
                g_x = g_x + expand(g * weight / divisor, axes, ndim)
        g_old = [
            g if isinstance(g.type, DisconnectedType) else cast(g * keep, dtype) for g in g_running
        ]
        return [cast(g_x, dtype), g_gamma, g_beta, *g_old]


class BatchNormalizationTrainGrad(_OverAxes, GradientsOp):
    """Gradients for x, gamma and beta from that of the normalized output, as one node.

    `mean` and `variance` are functions of x: gradients through this node see them as inputs, and
    the pullback above adds what flows through them.
    """

    __props__ = ("axes", "epsilon", "wanted")

    build_inner_graph = half_in_single(GradientsOp.build_inner_graph)

    def gradients(self, x, gamma, mean, variance, cotangent):
        ndim, axes = x.type.ndim, self.axes
        inverse = inverse_std(variance, self.epsilon)
        normalized = (x - expand(mean, axes, ndim)) * expand(inverse, axes, ndim)
        g_beta = total(cotangent, axes)
        g_gamma = total(cotangent * normalized, axes)
        divisor = at_least_one(count(x, axes))
        g_x = expand(gamma * inverse, axes, ndim) * (
            cotangent
            - expand(g_beta / divisor, axes, ndim)
            - normalized * expand(g_gamma / divisor, axes, ndim)
        )
        return [g_x, g_gamma, g_beta]


def _reduced_axes(axes, ndim):
    if axes == "per-activation":
        return (0,)
    if axes == "spatial":
        return (0, *range(2, ndim))
    given = (axes,) if isinstance(axes, numbers.Integral) else axes
    if (
        not isinstance(given, tuple | list)
        or not given
        or not all(isinstance(a, numbers.Integral) and not isinstance(a, bool) for a in given)
        or not all(-ndim <= a < ndim for a in given)
        or len({a % ndim for a in given}) != len(given)
    ):
        raise ValueError(
            f"batch normalization: axes must be 'per-activation', 'spatial' or different axes "
            f"of the input's {ndim}, got {axes!r}"
        )
    return tuple(sorted(int(a) % ndim for a in given))


def _drop_reduced(name, parameter, x, axes):
    """Bring a parameter to the axes that aren't reduced; it may have broadcast axes or not."""
    parameter = as_tensor_variable(parameter)
    kept = [a for a in range(x.type.ndim) if a not in axes]
    if parameter.type.ndim == x.type.ndim:
        lengths = [parameter.type.shape[a] for a in axes]
        if any(length not in (1, None) for length in lengths):
            raise ValueError(
                f"batch normalization: {name} must have length 1 along the reduced axes {axes}, "
                f"its shape is {parameter.type.shape}"
            )
        shape = [1 if a in axes else parameter.type.shape[a] for a in range(x.type.ndim)]
        parameter = specify_shape(parameter, shape).dimshuffle(kept)
    if parameter.type.ndim != len(kept):
        raise ValueError(
            f"batch normalization: {name} must have {len(kept)} axes (the input's that "
            f"aren't reduced) or the input's {x.type.ndim}, got {parameter.type.ndim}"
        )
    for a, length in zip(kept, parameter.type.shape, strict=True):
        if None not in (length, x.type.shape[a]) and length != x.type.shape[a]:
            raise ValueError(
                f"batch normalization: {name} has length {length} where axis {a} of the input "
                f"has {x.type.shape[a]}"
            )
    return cast(parameter, x.type.dtype)


def batch_normalization(
    x: TensorLike, gamma: TensorLike, beta: TensorLike, mean: TensorLike, variance: TensorLike,
    epsilon: float = 1e-4, axes: Axes = "spatial",
) -> TensorVariable:  # fmt: skip
    """Normalize with given statistics by Theano's arguments; PyTorch's: `nn.batch_norm`.

    ``(x - mean) / sqrt(variance + epsilon) * gamma + beta``

    Parameters
    ----------
    x : tensor_like, shape (batch, channels, ...), floating point
    gamma, beta, mean, variance : tensor_like
        Shape (channels,), or in general that of `x` without the reduced axes, or with length 1
        there.
    epsilon : float
    axes : "spatial", "per-activation" or tuple of int
        The axes that the statistics were taken over: all except axis 1, only axis 0, or others.

    Returns
    -------
    TensorVariable, shape and dtype of `x`
        Differentiable with respect to all five inputs.

    Raises
    ------
    ValueError
        If a parameter's shape doesn't fit, `x` has no axes, `axes` isn't one of those above, or
        `epsilon` is negative.
    TypeError
        If `x` isn't floating point.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
    internal covariate shift", ICML 2015.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> x = pt.constant([[1.0, 5.0]])
    >>> pt.batch_normalization(x, [1, 2], [0, 1], [3, 3], [4, 4], epsilon=0.0).eval()
    array([[-1.,  3.]])
    """
    x = as_floating_point("batch normalization", x, 1)
    axes = _reduced_axes(axes, x.type.ndim)
    epsilon = as_epsilon("batch normalization", epsilon)
    parameters = {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance}
    op: Any = BatchNormalization(axes=axes, epsilon=epsilon)
    return op(x, *(_drop_reduced(name, v, x, axes) for name, v in parameters.items()))


def batch_normalization_train(
    inputs: TensorLike, gamma: TensorLike, beta: TensorLike, axes: Axes = "spatial",
    epsilon: float = 1e-4, running_average_factor: float = 0.1,
    running_mean: TensorLike | None = None, running_var: TensorLike | None = None,
    running_var_ddof: Literal[0, 1] = 1,
) -> tuple[TensorVariable, ...]:  # fmt: skip
    """Normalize by the batch's statistics, Theano's arguments; PyTorch's: `nn.batch_norm`.

    Parameters
    ----------
    inputs : tensor_like, shape (batch, channels, ...), floating point
    gamma, beta : tensor_like
        Scale and offset.  Shape of `inputs` without the reduced axes, such as (channels,), or
        with length 1 there.
    axes : "spatial", "per-activation" or tuple of int
        Reduce all axes except 1, only axis 0, or the given ones.  Theano's default was
        "per-activation": for matrices both are the same, and images want "spatial".
    epsilon : float
    running_average_factor : float
        Weight f of the new value in the running statistics, from 0 to 1.
    running_mean, running_var : tensor_like, optional
        Current running statistics, shaped like `gamma`.
    running_var_ddof : {0, 1}
        Which variance enters `new_running_var`: that with the divisor m - 1, as in Theano and
        PyTorch, or with 0 that with the divisor m, as in ONNX and TensorFlow.

    Returns
    -------
    out : shape of `inputs`
        ``(inputs - mean) * invstd * gamma + beta``
    mean : shape of `gamma`
    invstd : shape of `gamma`
        ``1 / sqrt(var + epsilon)`` with the biased variance (divided by the number m).
    new_running_mean : shape of `running_mean`; only where that was given
        ``running_mean * (1 - f) + mean * f``
    new_running_var : shape of `running_var`; only where that was given
        ``running_var * (1 - f) + var * m / (m - ddof) * f``; for a single element, with the
        variance 0.

        Gradients flow through all outputs and through the statistics.  An empty batch has mean
        and variance 0, and leaves the running statistics as they are.

    Raises
    ------
    ValueError
        If a parameter's shape doesn't fit, `inputs` has no axes, or `axes`, `epsilon`,
        `running_average_factor` or `running_var_ddof` isn't one of those above.
    TypeError
        If `inputs` isn't floating point.

    References
    ----------
    Ioffe and Szegedy, "Batch normalization: accelerating deep network training by reducing
    internal covariate shift", ICML 2015.

    Examples
    --------
    >>> import numpy as np, pytensor.tensor as pt
    >>> x, one, zero = pt.constant([[1.0], [3.0]]), np.ones(1), np.zeros(1)
    >>> out, mean, invstd, new_mean, new_var = pt.batch_normalization_train(
    ...     x, one, zero, epsilon=0.0, running_mean=zero, running_var=one
    ... )
    >>> out.eval(), mean.eval(), new_mean.eval(), new_var.eval()
    (array([[-1.],
           [ 1.]]), array([2.]), array([0.2]), array([1.1]))
    """
    x = as_floating_point("batch normalization", inputs, 1)
    axes = _reduced_axes(axes, x.type.ndim)
    factor = running_average_factor
    if not isinstance(factor, numbers.Real) or not 0 <= factor <= 1:
        raise ValueError(
            f"batch normalization: running_average_factor must be a number from 0 to 1, "
            f"got {factor!r}"
        )
    if running_var_ddof not in (0, 1):
        raise ValueError(
            f"batch normalization: running_var_ddof must be 0 or 1, got {running_var_ddof!r}"
        )
    running = {"running_mean": running_mean, "running_var": running_var}
    given = {name: as_tensor_variable(v) for name, v in running.items() if v is not None}
    gamma = as_tensor_variable(gamma)
    parameters = {"gamma": gamma, "beta": beta} | given
    op = BatchNormalizationTrain(
        axes=axes,
        epsilon=as_epsilon("batch normalization", epsilon),
        running_average_factor=float(factor),
        running_var_ddof=int(running_var_ddof),
        running_mean=running_mean is not None,
        running_var=running_var is not None,
    )
    out, mean, variance, *new = op(
        x, *(_drop_reduced(name, v, x, axes) for name, v in parameters.items())
    )
    statistics = [(mean, gamma), (inverse_std(variance, op.epsilon), gamma)]
    statistics += zip(new, given.values(), strict=True)
    ndim = x.type.ndim
    # In the form of the parameter: with the reduced axes or without
    return (out, *(expand(v, axes, ndim) if p.type.ndim == ndim else v for v, p in statistics))


def inference_form(outputs: Variable | Sequence[Variable]) -> Any:
    """Make the inference form of a graph from its training form.

    Batch normalization by `batch_normalization_train` is replaced by `batch_normalization` with the
    running mean and variance that it was given.  New running statistics become the old ones, so
    that updates with them change nothing.

    ``mode.including("batch_normalization_inference")`` does the same when a function is compiled.

    Parameters
    ----------
    outputs : Variable or sequence of Variable
        Outputs of the training form, such as predictions or a loss, but no gradients.

    Returns
    -------
    Variable or list of Variable
        The inputs and the shared variables are the same as in `outputs`, which are left as they
        are.  A batch's own mean and standard deviation stay what they are where they are read.

    Raises
    ------
    ValueError
        If a layer has no running mean or variance, naming it; if the graph contains gradients of
        the training form, since the inference form has others: make it first, and
        differentiate it then; or if the layer is inside of a scan or an `OpFromGraph`.

    Examples
    --------
    >>> import numpy as np
    >>> import pytensor.tensor as pt
    >>> from pytensor.tensor.batchnorm import inference_form
    >>> x = pt.constant([[1.0], [3.0]])
    >>> one, zero = np.ones(1), np.zeros(1)
    >>> out, *_ = pt.batch_normalization_train(x, one, zero, running_mean=zero, running_var=one)
    >>> out.eval().round(2)
    array([[-1.],
           [ 1.]])
    >>> inference_form(out).eval().round(2)
    array([[1.],
           [3.]])
    """
    wanted: list[Any] = [*outputs] if isinstance(outputs, Sequence) else [outputs]
    nodes = list(toposort(wanted))
    check_inference_form(nodes)
    new: dict[Variable, Variable] = {}
    for node in nodes:
        inputs = [new.get(v, v) for v in node.inputs]
        copy = node if inputs == node.inputs else node.clone_with_new_inputs(inputs)
        new.update(zip(node.outputs, copy.outputs, strict=True))
        if isinstance(node.op, BatchNormalizationTrain):
            replaced = inference_outputs(copy)
            new.update({old: replaced.get(new[old], new[old]) for old in node.outputs})
    results = [new.get(v, v) for v in wanted]
    return results if isinstance(outputs, Sequence) else results[0]


def inference_outputs(node: Any) -> dict[Variable, Variable]:
    """Return what replaces outputs of a node in training form that has running statistics."""
    x, gamma, beta, mean, variance = node.inputs
    out, _, _, new_mean, new_variance = node.outputs
    infer = BatchNormalization(axes=node.op.axes, epsilon=node.op.epsilon)
    return {out: infer(x, gamma, beta, mean, variance), new_mean: mean, new_variance: variance}


def check_inference_form(nodes):
    """Raise an error if the training form among these nodes can't be replaced."""
    for node in nodes:
        if isinstance(node.op, BatchNormalizationTrainGrad):
            raise ValueError(
                "inference form: the graph contains gradients of batch normalization in training "
                "form; make the inference form of the outputs first, and differentiate that"
            )
        if isinstance(node.op, BatchNormalizationTrain):
            if not (node.op.running_mean and node.op.running_var):
                raise ValueError(
                    f"inference form: the batch normalization with scale {_label(node.inputs[1])} "
                    f"and offset {_label(node.inputs[2])} has no running mean or variance; give "
                    f"running_mean and running_var to batch_normalization_train"
                )
        elif _has_training_form(node.op):
            raise ValueError(
                f"inference form: {node.op} has batch normalization in training form inside; make "
                f"the inference form of its inner graph"
            )


def _has_training_form(op):
    return isinstance(op, BatchNormalizationTrain) or (
        isinstance(op, HasMultipleInnerGraph)
        and any(
            _has_training_form(node.op)
            for fgraph in op.inner_graphs.values()
            for node in fgraph.apply_nodes
        )
    )


def _label(variable):
    """Return the name of a variable, or of what it was made of."""
    named = variable
    while named.name is None and named.owner is not None and named.owner.inputs:
        named = named.owner.inputs[0]
    return repr(named.name) if named.name is not None else str(variable)


class InferenceForm(GraphRewriter):
    """Replace batch normalization in training form; see `inference_form`."""

    def add_requirements(self, fgraph):
        # Here and not in `apply`, whose errors are logged and then forgotten.
        check_inference_form(fgraph.toposort())

    def apply(self, fgraph):
        for node in fgraph.toposort():
            if isinstance(node.op, BatchNormalizationTrain):
                replacements = inference_outputs(node)
                for old, new in replacements.items():
                    copy_stack_trace(old, new)
                fgraph.replace_all(
                    [(old, new) for old, new in replacements.items() if old in fgraph.variables],
                    reason="batch_normalization_inference",
                )


# Before everything else, and only in modes that include it by name
optdb.register("batch_normalization_inference", InferenceForm(), position=-1)


@shifted.register(_OverAxes)
def _(op, n):
    return op.over(tuple(axis + n for axis in op.axes))


@batch_rule(_OverAxes)
def batch_of_batch_normalization(op, node, batch):
    """Compute each element with statistics of its own, all with those given; no `Blockwise`."""
    is_inference = isinstance(op, BatchNormalization) and not any(batch.has[1:])
    if not is_inference or 0 not in op.axes:
        return leading_batch(op, node, batch)
    image, *given = batch.inputs
    (out,) = op(batch.merge(image, 0), *given, return_list=True)
    return [batch.part(out, 0, batch.own_lengths(0)[0])]


layout.register(_OverAxes, lambda op: Layout(by_axes=True))
precision.register(_OverAxes, lambda op: "normalization")
improves_inside.register(_OverAxes, lambda op: False)
