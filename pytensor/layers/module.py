"""Modules: plain classes whose attributes hold the parameters of a network."""

import copy
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

import pytensor
from pytensor.compile.sharedvalue import SharedVariable, shared
from pytensor.layers import init
from pytensor.tensor.basic import constant
from pytensor.tensor.missing_names import check_arguments, missing_name
from pytensor.tensor.random.type import RandomType
from pytensor.tensor.sharedvar import TensorSharedVariable

_building: ContextVar[bool] = ContextVar("building", default=False)

# What to write for attributes of PyTorch's modules
_DEVICE = "leave it out; the mode decides, pytensor.function(..., mode=jax_mode())"
_FORM = "build two graphs, within layers.training() and without"
_ELSEWHERE = {
    "cpu": _DEVICE,
    "cuda": _DEVICE,
    "eval": _FORM,
    "forward": "write net(x)",
    "to": _DEVICE,
    "train": _FORM,
    "zero_grad": "leave it out; gradients aren't summed over steps",
}


def parameter(
    shape: Sequence[int], start: init.Distribution | None = None
) -> TensorSharedVariable:
    """Make a parameter, for an attribute of a module.

    Parameters
    ----------
    shape : sequence of int
    start : distribution, optional
        One of `pytensor.layers.init`; zeros by default.  Values are drawn when the outermost module
        is complete.  The parameter's name in it seeds the generator, so that other parameters don't
        matter.

    Returns
    -------
    SharedVariable, dtype floatX
    """
    if np.ndim(shape) != 1 or not all(isinstance(n, int | np.integer) for n in shape):
        raise TypeError(
            "parameter takes a shape; for an array write "
            "layers.parameter(array.shape, layers.init.constant(array))"
        )
    variable = shared(np.zeros(shape, pytensor.config.floatX), borrow=True, shape=tuple(shape))
    variable.tag.start = init.constant(0.0) if start is None else start
    return variable


def buffer(value: ArrayLike) -> TensorSharedVariable:
    """Make a variable that is saved with a module's parameters and that optimizers don't change.

    Parameters
    ----------
    value : array_like
        The start of a running statistic, or a constant of the architecture.  Floating point numbers
        become floatX.
    """
    value = np.array(value)
    if np.issubdtype(value.dtype, np.floating):
        value = value.astype(pytensor.config.floatX)
    variable = shared(value, shape=value.shape)
    variable.tag.start, variable.tag.buffer = init.constant(value), True
    return variable


def generator() -> Any:
    """Make a shared random generator, which is seeded by its name as parameters are."""
    variable = shared(np.random.default_rng(0), borrow=True)
    variable.tag.start = _the_generator_itself
    return variable


def _the_generator_itself(rng: np.random.Generator, _: Any) -> np.random.Generator:
    return rng


def restart(variable: SharedVariable, start: init.Distribution, seed: int = 0) -> None:
    """Draw a parameter's values from another distribution.

    Parameters
    ----------
    variable : SharedVariable
        Made by `parameter`, a layer's weight for example.
    start : distribution
        One of `pytensor.layers.init`.
    seed : int

    Examples
    --------
    >>> from pytensor import layers
    >>> net = layers.Sequential(layers.Linear(4, 8), layers.Linear(8, 8))
    >>> for weight in net.parameters():
    ...     if weight.ndim == 2:
    ...         layers.restart(weight, layers.init.truncated_normal(std=0.02))
    """
    variable.tag.start = start
    variable.set_value(_start(variable, variable.name, seed), borrow=True)


def _start(variable: SharedVariable, name: str | None, seed: int = 0) -> Any:
    """Return the value that a variable starts with under a name; None is before it has one."""
    kind: Any = variable.type
    rng = np.random.default_rng(0 if name is None else [seed, zlib.crc32(name.encode())])
    if isinstance(kind, RandomType):
        return rng
    if name is None and not hasattr(variable.tag, "buffer"):
        return np.zeros(kind.shape, kind.dtype)
    value = np.asarray(variable.tag.start(rng, kind.shape), kind.dtype)
    if value.shape != kind.shape:
        raise ValueError(f"start values of {name} have shape {value.shape}, not {kind.shape}")
    return value


def _has_start(variable: SharedVariable) -> bool:
    """Tell whether nobody has set a variable since its start value was drawn."""
    if not hasattr(variable.tag, "start"):
        return False
    value, start = variable.get_value(borrow=True), _start(variable, variable.name)
    if isinstance(start, np.random.Generator):
        return bool(value.bit_generator.state == start.bit_generator.state)
    return np.array_equal(value, start)


def _kind_of(variable: SharedVariable) -> str:
    """Return what a variable is to a module: "generator", "buffer" or "parameter"."""
    if isinstance(variable.type, RandomType):
        return "generator"
    is_float = np.issubdtype(np.dtype(variable.type.dtype), np.floating)
    return "buffer" if hasattr(variable.tag, "buffer") or not is_float else "parameter"


def walk(
    value: Any, path: str = "", above: tuple[Any, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield shared variables and modules in modules, lists and dicts, with the paths to them."""
    if any(value is other for other in above):
        return  # a module that refers to the one that it is in
    if isinstance(value, SharedVariable | Module):
        yield path, value
    items: Any = ()
    if isinstance(value, Module):
        items = value.children()
    elif isinstance(value, Mapping):
        items = value.items()
    elif isinstance(value, list | tuple):
        items = enumerate(value)
    for key, child in items:
        yield from walk(child, f"{path}.{key}" if path else str(key), (*above, value))


class _Completing(type):
    """Completes the outermost module when it has been made."""

    def __call__[T](cls: type[T], *args: Any, **kwargs: Any) -> T:
        taken = signature(partial(cls.__init__, None))
        check_arguments(cls.__name__, taken, *args, **kwargs)
        outermost = not _building.get()
        token = _building.set(True)
        try:
            module: Any = super().__call__(*args, **kwargs)  # type: ignore[misc]
        finally:
            _building.reset(token)
        if outermost:
            module.named_variables()
        return module


class Module(metaclass=_Completing):
    """A part of a network: its attributes hold shared variables, and calling it builds a graph.

    Parameters, buffers and generators are found in attributes, also in other modules, lists, tuples
    and dicts.  Their names are the same as in PyTorch's state dicts: ``encoder.layers.0.weight``.

    A floating point variable is a parameter, unless `buffer` made it.

    Examples
    --------
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> class Residual(layers.Module):
    ...     def __init__(self, width):
    ...         self.norm = layers.LayerNorm(width)
    ...         self.linear = layers.Linear(width, width, bias=False)
    ...
    ...     def __call__(self, x):
    ...         return x + self.linear(pt.nn.silu(self.norm(x)))
    >>> net = layers.Sequential(Residual(4), Residual(4))
    >>> y = net(pt.matrix("x"))
    >>> [weight.name for weight in net.parameters()][:3]
    ['0.norm.weight', '0.norm.bias', '0.linear.weight']
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Build the graph of the outputs; a subclass defines it."""
        raise NotImplementedError(
            f"{type(self).__name__} has no __call__; write it in the place of PyTorch's forward"
        )

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if hasattr(type(self), name):  # a property has raised an AttributeError: again
                return object.__getattribute__(self, name)
            names = {*dir(type(self)), *vars(self)}
            raise missing_name(type(self).__name__, name, sorted(names), _ELSEWHERE)

    def __repr__(self) -> str:
        """Return the kind of the module and of the layers in it, without what is in these."""
        kinds: dict[str, str] = {}
        for path, part in walk(self):
            if path and isinstance(part, Module) and not path.startswith(tuple(kinds)):
                kinds[f"{path}."] = type(part).__name__
        layers = ", ".join(f"{path[:-1]}: {kind}" for path, kind in kinds.items())
        return f"{type(self).__name__}({layers})"

    def children(self) -> Iterator[tuple[str, Any]]:
        """Yield names and values among which variables and modules are found: the attributes."""
        yield from vars(self).items()

    def named_variables(self) -> dict[str, SharedVariable]:
        """Return all shared variables by name, in the order of the attributes.

        Names are completed here: a variable called "weight", or not at all, is called "0.weight"
        from now on if that is its name in this module.  If it still had its start value, it gets
        the one of the new name.
        """
        found = {name: v for name, v in walk(self) if isinstance(v, SharedVariable)}
        for name, variable in found.items():
            if variable.name is None or name.endswith(f".{variable.name}"):
                fresh = _has_start(variable)
                variable.name = name
                if fresh:
                    variable.set_value(_start(variable, name), borrow=True)
        return found

    def _of_kind(self, *kinds: str) -> dict[str, Any]:
        return {name: v for name, v in self.named_variables().items() if _kind_of(v) in kinds}

    def modules(self) -> "list[Module]":
        """Return this module and all that are in it, each of them once."""
        return list(dict.fromkeys(part for _, part in walk(self) if isinstance(part, Module)))

    def named_parameters(self) -> dict[str, TensorSharedVariable]:
        """Return the parameters by name."""
        return self._of_kind("parameter")

    def parameters(self) -> list[TensorSharedVariable]:
        """Return the parameters, each of them once."""
        return list(dict.fromkeys(self.named_parameters().values()))

    def named_buffers(self) -> dict[str, TensorSharedVariable]:
        """Return running statistics and constants by name."""
        return self._of_kind("buffer")

    def named_generators(self) -> dict[str, SharedVariable]:
        """Return the random generators by name; they are not in the state dict."""
        return self._of_kind("generator")

    def initialize(self, seed: int = 0) -> None:
        """Set all variables that layers have made to start values, drawn by another seed."""
        for variable in self.named_variables().values():
            if hasattr(variable.tag, "start"):
                variable.set_value(_start(variable, variable.name, seed), borrow=True)

    def frozen(self) -> Self:
        """Return a copy whose parameters and buffers are constants of their present values.

        It has nothing to train: for a part of another network, or of a model in PyMC.  Running
        statistics stay as they are in the training graph, too.

        Examples
        --------
        >>> import pytensor.tensor as pt
        >>> from pytensor import layers
        >>> features, head = layers.Linear(8, 4), layers.Linear(4, 1)
        >>> net = layers.Sequential(features.frozen(), pt.nn.relu, head)
        >>> net.parameters() == head.parameters()
        True
        """
        values: dict[int, Any] = {id(v): v for v in self.named_generators().values()}
        for variable in self._of_kind("parameter", "buffer").values():
            values[id(variable)] = constant(np.array(variable.get_value()), variable.name)
        return copy.deepcopy(self, values)

    def state_dict(self) -> dict[str, np.ndarray]:
        """Return copies of parameters and buffers by name."""
        variables = self._of_kind("parameter", "buffer")
        return {name: np.array(v.get_value(borrow=True)) for name, v in variables.items()}

    def load_state_dict(self, values: Mapping[str, ArrayLike]) -> None:
        """Set parameters and buffers.

        Parameters
        ----------
        values : mapping of str to array_like
            A state dict of ours or of PyTorch's; its ``num_batches_tracked`` are left out.  Numbers
            are cast to the variables' dtypes.

        Raises
        ------
        ValueError
            If names, shapes or kinds of numbers are not this module's.  Nothing is set then.
        """
        load_all((f"this {type(self).__name__}", self._of_kind("parameter", "buffer"), values))


type Loaded = tuple[str, Mapping[str, SharedVariable], Mapping[str, ArrayLike]]


def load_all(*parts: Loaded) -> None:
    """Set variables of several owners to values, or raise a ValueError before any is set."""
    checked: list[tuple[Any, np.ndarray]] = []
    for owner, variables, values in parts:
        given = {
            name: np.asarray(value)
            for name, value in values.items()
            if name.rpartition(".")[2] != "num_batches_tracked"
        }
        shapes = {name: np.shape(v.get_value(borrow=True)) for name, v in variables.items()}
        problems = {
            "missing": [name for name in variables if name not in given],
            "unexpected": [name for name in given if name not in variables],
            "of another shape": [
                f"{name} {given[name].shape} instead of {shape}"
                for name, shape in shapes.items()
                if name in given and given[name].shape != shape
            ],
            "of another kind": [
                f"{name} {given[name].dtype} instead of {v.type.dtype}"
                for name, v in variables.items()
                if name in given and not np.can_cast(given[name].dtype, v.type.dtype, "same_kind")
            ],
        }
        found = [
            f"{len(names)} {what} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})"
            for what, names in problems.items()
            if names
        ]
        if found:
            raise ValueError(f"these values are not of {owner}: {'; '.join(found)}")
        checked += [(v, given[name]) for name, v in variables.items()]
    for variable, value in checked:
        variable.set_value(np.array(value, dtype=variable.type.dtype), borrow=True)
