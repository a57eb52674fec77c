"""What all optimizers share: checks, hyperparameters, groups and named state."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

import pytensor.tensor as pt
from pytensor import gradient
from pytensor.compile.sharedvalue import SharedVariable, shared
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.null_type import NullType
from pytensor.graph.traversal import applys_between
from pytensor.optimizers.updates import Gradients, OrderedUpdates, Updates, merge_updates
from pytensor.tensor.sharedvar import TensorSharedVariable
from pytensor.tensor.type import TensorType, float_dtypes
from pytensor.tensor.variable import TensorVariable

type Scalar = float | np.number | TensorVariable
type NewValues = dict[SharedVariable, Variable]
# of a step, or epoch: a number gives a float, a symbolic scalar a symbolic scalar
type Schedule = Callable[[Any], Any]


class HasParameters(Protocol):
    """A module of `pytensor.layers`, or an `ImportedModel`."""

    @property
    def parameters(self) -> Callable[[], list[TensorSharedVariable]] | dict[str, Variable]:
        """Give the trained variables, or a function that returns them."""


type Parameters = Iterable[SharedVariable] | Mapping[str, Variable] | HasParameters


def as_scalar(value: Scalar, dtype: str | None, name: str = "value") -> TensorVariable:
    """Return a number or symbolic scalar as a scalar variable of `dtype` (None: of its own).

    PyTensor types Python numbers by their value, and many (0.937, say) become float64, which would
    carry a float32 parameter with them.
    """
    if isinstance(value, Variable):
        if not isinstance(value.type, TensorType) or value.type.ndim != 0:
            raise TypeError(f"{name} must be a number or a symbolic scalar, not {value.type}")
        return value if dtype is None else pt.cast(value, dtype)
    if np.ndim(value) != 0 or np.asarray(value).dtype.kind not in "iuf":
        raise TypeError(f"{name} must be a number or a symbolic scalar, not {value!r}")
    return pt.constant(np.asarray(value, dtype=dtype))


def is_number(value: Scalar | Schedule, number: float) -> bool:
    """Tell whether `value` is known to be `number` when the graph is built."""
    return not isinstance(value, Variable) and not callable(value) and value == number


def check_number(name: str, value: Scalar, low: float = 0.0, high: float | None = None) -> None:
    """Raise if `value` is neither a symbolic scalar nor a number in [low, high)."""
    as_scalar(value, None, name)
    if isinstance(value, Variable):
        return
    if not value >= low or (high is not None and value >= high):
        limits = f"at least {low:g}" if high is None else f"in [{low:g}, {high:g})"
        raise ValueError(f"{name} must be {limits}, not {value}")


def check_betas(betas: Sequence[float]) -> tuple[float, float]:
    """Return two averages' shares that are kept, each in [0, 1)."""
    if not isinstance(betas, Sequence | np.ndarray) or len(betas) != 2:
        raise ValueError(f"betas must be two numbers, not {betas!r}")
    for position, beta in enumerate(betas):
        check_number(f"betas[{position}]", beta, high=1.0)
    return betas[0], betas[1]


def rate_of(
    learning_rate: Scalar | Schedule | None, lr: Scalar | Schedule | None,
    default: float | None = None,
) -> Scalar | Schedule:  # fmt: skip
    """Return the learning rate, which may be given by either name."""
    if isinstance(learning_rate, list | tuple | Mapping) or hasattr(learning_rate, "parameters"):
        raise TypeError(
            "the learning rate comes first; the parameters go to minimize(loss, parameters)"
        )
    rate = either("learning_rate", learning_rate, "lr", lr, default)
    if rate is None:
        raise TypeError("give a learning rate: learning_rate=0.1, for example")
    return rate


def either[Value](
    name: str, value: Value | None, other_name: str, other: Value | None, default: Value
) -> Value:
    """Return a value that may be given by either of two names."""
    if value is not None and other is not None:
        raise TypeError(f"{name} and {other_name} are two names of one number; give one of them")
    given = other if value is None else value
    return default if given is None else given


def epsilon_of(epsilon: float | None, eps: float | None, default: float) -> float:
    """Return what is added to a divisor, which may be given by either name."""
    value = either("epsilon", epsilon, "eps", eps, default)
    check_number("epsilon", value)
    return value


def first_duplicate[Item: Hashable](items: Iterable[Item]) -> Item | None:
    """Return the first item that was there before, or None."""
    seen = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def check_parameters(params: Parameters) -> list[TensorSharedVariable]:
    """Return `params`, or a module's, as a list of float shared variables, all different."""
    given: Any = getattr(params, "parameters", params)
    given = given() if callable(given) else given
    if isinstance(given, Mapping):
        fixed = getattr(params, "updates", ())  # of a model: running statistics
        given = [v for v in given.values() if not isinstance(v, Constant) and v not in fixed]
        if not given:
            raise ValueError("params has only constants; write from_onnx(..., trainable=True)")
    if isinstance(params, SharedVariable):
        raise TypeError(f"params must be a sequence of shared variables; write [{params}]")
    if isinstance(params, Variable):
        raise TypeError(f"params must be a sequence of shared variables, not {params}")
    checked: list[Any] = list(given)
    for position, param in enumerate(checked):
        if not isinstance(param, SharedVariable) or not isinstance(param.type, TensorType):
            raise TypeError(f"params[{position}] must be a shared tensor, not {param!r:.80}")
        if not np.issubdtype(np.dtype(param.type.dtype), np.floating):
            raise TypeError(
                f"parameter {param} has dtype {param.type.dtype}; only float parameters can be "
                "trained"
            )
    twice = first_duplicate(checked)
    if twice is not None:
        raise ValueError(f"parameter {twice} is listed twice in params")
    return checked


def check_gradients(
    params: Sequence[SharedVariable], grads: Gradients
) -> list[TensorVariable]:
    """Return `grads` as a list, one gradient of the parameter's shape and `wide_dtype` for each."""
    if grads is None or isinstance(grads, Variable):
        raise TypeError("grads must be a sequence, one gradient per parameter")
    grads = list(grads)
    if len(grads) != len(params):
        raise ValueError(f"there are {len(params)} params and {len(grads)} grads")
    checked = []
    for param, grad in zip(params, grads, strict=True):
        kind = getattr(grad, "type", None)
        if grad is None or isinstance(kind, DisconnectedType):
            raise ValueError(
                f"parameter {param} has no gradient: the cost does not depend on it. Leave it out "
                "of params, or pass zeros"
            )
        if isinstance(kind, NullType):
            raise ValueError(f"the gradient of parameter {param} is undefined: {kind}")
        grad = pt.as_tensor_variable(grad)
        # Not its type's shape: of an open length, one of 1 would be repeated
        shape = param.get_value(borrow=True).shape
        if grad.type.ndim != len(shape) or any(
            known not in (None, wanted)
            for known, wanted in zip(grad.type.shape, shape, strict=False)
        ):
            raise ValueError(
                f"the gradient of parameter {param} has type {grad.type}, and the parameter has "
                f"the shape {shape}"
            )
        checked.append(pt.cast(grad, wide_dtype(param)))
    return checked


def names_of(params: Iterable[Variable]) -> list[str]:
    """Return one name per parameter; an unnamed one is called ``param_<position>``."""
    names = [param.name or f"param_{position}" for position, param in enumerate(params)]
    twice = first_duplicate(names)
    if twice is not None:
        raise ValueError(
            f"two parameters are called {twice!r}; state is stored by name, so give each its own"
        )
    return names


def wide_dtype(param: SharedVariable) -> str:
    """Return the parameter's dtype, float32 at least.

    In float16 squares of gradients vanish, and sums stand still where a summand is less than half
    of the last digit.
    """
    return str(np.result_type("float32", param.type.dtype))


def shared_like(
    param: TensorSharedVariable, name: str, value: ArrayLike | None = None
) -> TensorSharedVariable:
    """Make a shared variable of the static shape of `param`, and of its `wide_dtype`.

    It holds zeros if `value` is None.
    """
    if value is None:
        value = np.zeros(param.get_value(borrow=True).shape)
    # A copy as NumPy: after a step in mode JAX, parameters hold arrays of JAX.
    value = np.array(value, dtype=wide_dtype(param))
    return shared(value, name=name, shape=param.type.shape)


class Optimizer(ABC):
    """Build updates of parameters from gradients; the base class of the optimizers.

    A subclass lists in `hyperparameters` what a parameter group may set, and implements
    `_update_parameter`.  A hyperparameter is a number, a symbolic scalar, or a schedule: a function
    of the number of steps taken, such as `pytensor.optimizers.schedules` makes.

    Attributes
    ----------
    state : dict of str to SharedVariable
        What has to be saved besides the parameters to resume training: momentum buffers and the
        like by name, ``<parameter's name>.<slot>``, and a step counter, ``step``, where there is
        one.  It is filled by `get_updates`.

    Notes
    -----
    To write another optimizer:

    >>> import pytensor.tensor as pt
    >>> from pytensor.optimizers.basic import Optimizer, as_scalar
    >>> class SignSGD(Optimizer):
    ...     hyperparameters = ("learning_rate",)
    ...
    ...     def _update_parameter(self, param, grad, name, learning_rate):
    ...         lr = as_scalar(learning_rate, grad.type.dtype)
    ...         return {param: param - lr * pt.sign(grad)}
    """

    hyperparameters: tuple[str, ...] = ("learning_rate",)

    def __init__(self, **hyperparameters: Scalar | Schedule) -> None:
        for name, value in hyperparameters.items():
            if not callable(value):
                check_number(name, value)
        self.defaults = hyperparameters
        self.state: dict[str, TensorSharedVariable] = {}
        self._owners: dict[str, SharedVariable] = {}

    def minimize(
        self, loss: Variable, parameters: Parameters,
        updates: Updates = (), groups: Iterable[Mapping[str, Any]] = (),
    ) -> OrderedUpdates:  # fmt: skip
        """Build one step down the gradient of a loss.

        Parameters
        ----------
        loss : TensorVariable
            A scalar.
        parameters : sequence of SharedVariable, dict, module or `ImportedModel`
            What is trained.  Constants in a dict or an imported model are left out.
        updates : mapping or iterable of pairs, optional
            What else the step updates: those that `pytensor.layers.training` collects.
        groups : sequence of dict, optional
            As of `get_updates`.

        Returns
        -------
        OrderedUpdates
            `updates`, and the updates of `get_updates`.

        Raises
        ------
        TypeError, ValueError
            As from `get_updates`.
        ValueError
            If `loss` was built within `training`, and not all of its updates are given.

        Examples
        --------
        >>> import numpy as np
        >>> import pytensor
        >>> from pytensor.optimizers import SGD
        >>> w = pytensor.shared(np.float64(3.0), name="w")
        >>> updates = SGD(lr=0.25).minimize(w**2, [w])
        >>> step = pytensor.function([], updates=updates, mode="FAST_COMPILE")
        >>> step()
        []
        >>> float(w.get_value())
        1.5
        """
        if not isinstance(loss, Variable):
            raise TypeError(f"minimize takes the loss first, not {loss!r:.80}")
        dtype = getattr(loss.type, "dtype", None)
        if dtype not in float_dtypes:  # gradients of integers are zeros
            raise TypeError(f"minimize: the loss must be floating point, got {dtype}")
        params, updates = check_parameters(parameters), OrderedUpdates(updates)
        if not params:
            raise ValueError(f"minimize: there is nothing to train in {parameters!r:.80}")
        for node in applys_between([], [loss]):
            for variable in getattr(node.tag, "updated", ()):
                if variable not in updates:
                    raise ValueError(
                        f"minimize: the loss needs the update of {variable}; write `with "
                        "layers.training() as updates:`, then minimize(loss, net, updates)"
                    )
        own = self.get_updates(params, gradient.grad(loss, params), groups)
        return merge_updates(updates, own)

    def get_updates(
        self, params: Sequence[SharedVariable], grads: Gradients,
        groups: Iterable[Mapping[str, Any]] = (),
    ) -> OrderedUpdates:  # fmt: skip
        """Build one step.

        Parameters
        ----------
        params : sequence of SharedVariable
            Float tensors of any shape.  Name them: state is stored under their names.  Without a
            name, a parameter is called ``param_<position>``.
        grads : sequence of TensorVariable
            One gradient per parameter, of its shape.
        groups : sequence of dict, optional
            Parameter groups: each dict has ``"params"``, some of `params`, and values of those
            hyperparameters which shall differ from the optimizer's own for them, for instance
            ``{"params": biases, "learning_rate": warmup_rate, "weight_decay": 0.0}``.
            Parameters in no group have the optimizer's own values.

        Returns
        -------
        OrderedUpdates
            The new values of parameters and state, for `pytensor.function`.  A second call with
            the same parameters uses the same state.

        Raises
        ------
        TypeError
            If a parameter is no float shared variable.
        ValueError
            If parameters and gradients do not fit one another, a gradient is missing, a parameter
            is listed twice, or a group is not understood.
        """
        if isinstance(params, Variable) and not isinstance(params, SharedVariable):
            raise TypeError(
                f"get_updates takes the parameters first, not {params}; write "
                "get_updates(params, pytensor.grad(loss, params))"
            )
        params = check_parameters(params)
        grads = check_gradients(params, grads)
        names = names_of(params)
        values = self._values_by_parameter(params, groups)
        updates = OrderedUpdates()
        for param, name in zip(params, names, strict=True):
            if self._owners.setdefault(name, param) is not param:
                raise ValueError(
                    f"this optimizer has the state of another parameter called {name!r}; use one "
                    "optimizer per model, or another name"
                )
        new_values = self._update_parameters(params, grads, names, values)
        for variable, new in new_values.items():
            updates[variable] = pt.cast(new, variable.type.dtype) if variable in values else new
        if params:
            updates.update(self._common_updates())
        return updates

    def _update_parameters(
        self, params: Sequence[TensorSharedVariable], grads: Sequence[TensorVariable],
        names: Sequence[str], values: Mapping[SharedVariable, Mapping[str, Scalar]],
    ) -> NewValues:  # fmt: skip
        """Return the new values of all parameters and of their state as a dict.

        `values` has the hyperparameters by parameter.  Gradients and state are of `wide_dtype`, and
        `get_updates` casts the new values of parameters.  Override it where parameters are computed
        together.
        """
        updates: NewValues = {}
        for param, grad, name in zip(params, grads, names, strict=True):
            updates.update(self._update_parameter(param, grad, name, **values[param]))
        return updates

    @abstractmethod
    def _update_parameter(
        self, param: TensorSharedVariable, grad: TensorVariable, name: str, **hyperparameters: Any
    ) -> NewValues:
        """Return the new values of `param` and of its state as a dict."""

    def _step(self) -> TensorSharedVariable:
        """Return the number of steps taken, a state variable made when first asked for."""
        if "step" not in self.state:
            # int32, for JAX has no int64 when floatX is float32.
            self.state["step"] = shared(np.asarray(0, dtype="int32"), name="step")
        return self.state["step"]

    def _common_updates(self) -> NewValues:
        """Return the new values of state that belongs to no single parameter."""
        return {self._step(): self._step() + np.int32(1)} if "step" in self.state else {}

    def value_of(self, hyperparameter: str, dtype: str = "float64") -> Scalar:
        """Return a hyperparameter for the next step: a schedule's is a symbolic scalar."""
        return self._now(self.defaults[hyperparameter], dtype)

    def _now(self, value: Scalar | Schedule, dtype: str) -> Scalar:
        return value(pt.cast(self._step(), dtype)) if callable(value) else value

    def _slot(self, param: TensorSharedVariable, name: str, slot: str) -> TensorSharedVariable:
        """Return the state variable ``<name>.<slot>``, made of zeros when first asked for."""
        key = f"{name}.{slot}"
        if key not in self.state:
            self.state[key] = shared_like(param, key)
        return self.state[key]

    def _values_by_parameter(
        self, params: Sequence[SharedVariable], groups: Iterable[Mapping[str, Any]]
    ) -> dict[SharedVariable, dict[str, Scalar]]:
        kinds = {wide_dtype(param) for param in params}
        own = {
            kind: {name: self.value_of(name, kind) for name in self.hyperparameters}
            for kind in sorted(kinds)
        }
        values = {param: own[wide_dtype(param)] for param in params}
        if isinstance(groups, Mapping):
            raise TypeError("groups must be a sequence of dicts; write [group]")
        grouped = set()
        for position, group in enumerate(groups):
            if not isinstance(group, Mapping) or "params" not in group:
                raise ValueError(f'groups[{position}] must be a dict with the key "params"')
            if {"lr", "learning_rate"} <= group.keys():
                raise ValueError(f"groups[{position}] sets the learning rate twice")
            changed = {
                "learning_rate" if name == "lr" else name: value
                for name, value in group.items()
                if name != "params"
            }
            for name, value in changed.items():
                if name not in self.hyperparameters:
                    raise ValueError(
                        f"groups[{position}] sets {name!r}; {type(self).__name__} has "
                        + ", ".join(self.hyperparameters)
                    )
                if not callable(value):
                    check_number(f"groups[{position}][{name!r}]", value)
            for param in check_parameters(group["params"]):
                if param not in values:
                    raise ValueError(f"groups[{position}] has {param}, which is not in params")
                if param in grouped:
                    raise ValueError(f"parameter {param} is listed twice in groups")
                grouped.add(param)
                kind = wide_dtype(param)
                mine = {name: self._now(value, kind) for name, value in changed.items()}
                values[param] = own[kind] | mine
        return values


def decayed(
    grad: TensorVariable, param: TensorSharedVariable, weight_decay: Scalar
) -> TensorVariable:
    """Return `grad` with the gradient of ``weight_decay / 2 * sum(param**2)`` added."""
    if is_number(weight_decay, 0):
        return grad
    return grad + as_scalar(weight_decay, wide_dtype(param), "weight_decay") * param


def shrunk(
    param: TensorSharedVariable, learning_rate: Scalar, weight_decay: Scalar
) -> TensorVariable:
    """Return ``param * (1 - learning_rate * weight_decay)``, decay apart from the gradient."""
    if is_number(weight_decay, 0):
        return param
    dtype = wide_dtype(param)
    lr = as_scalar(learning_rate, dtype, "learning_rate")
    return param * (as_scalar(1, dtype) - lr * as_scalar(weight_decay, dtype, "weight_decay"))
