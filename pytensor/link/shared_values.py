"""Let functions of one backend read shared variables that another backend has updated.

JAX and MLX leave arrays of their own in shared variables, so that the next call needs no copy.
PyTensor's functions read what is there as it is, and other backends take it for a NumPy array; see
``thoughts/upstream/shared-variables-of-two-backends.md``.
"""

from collections.abc import Callable, Iterable
from copy import copy, deepcopy
from functools import cache, wraps
from typing import Any

import numpy as np

from pytensor.compile.executor import Function
from pytensor.compile.maker import FunctionMaker
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.link.basic import Container, Linker

__all__ = ["leaves_arrays"]

_arrays: dict[type[Linker], type] = {}
_for_users: dict[type, Callable[[Any], Any]] = {}
_in_dtype: dict[type[Linker], Callable[[Any, Any], Any]] = {}
_call, _create, _get_value = Function.__call__, FunctionMaker.create, SharedVariable.get_value
_deepcopy = Container.__deepcopy__


def leaves_arrays(
    linker: type[Linker], array: type, for_users: Callable[[Any], Any] | None = None,
    in_dtype: Callable[[Any, Any], Any] | None = None,
) -> None:  # fmt: skip
    """Copy a backend's arrays to NumPy when functions of other backends are made or called.

    The copy replaces the value of the shared variable and has the variable's dtype.

    Parameters
    ----------
    linker : subclass of pytensor.link.basic.Linker
    array : type
        The class of the arrays that functions of this linker leave in shared variables.
    for_users : callable, optional
        Makes what `SharedVariable.get_value` returns of such an array.
    in_dtype : callable, optional
        Makes what is left in a shared variable of an update and the variable's dtype, for linkers
        of this very class: their updates may have other dtypes than their types say.
    """
    if in_dtype is not None:
        _in_dtype[linker] = in_dtype
    if for_users is not None:
        _for_users[array] = for_users
        SharedVariable.get_value = get_value_for_users
    _arrays[linker] = array
    _foreign_to.cache_clear()
    Function.__call__ = call_with_readable_values
    FunctionMaker.create = create_with_readable_values
    Container.__deepcopy__ = deepcopy_of_container


@cache
def _foreign_to(linker: type[Linker]) -> tuple[type, ...]:
    return tuple(array for owner, array in _arrays.items() if not issubclass(linker, owner))


def _make_readable(containers: Iterable[Container], linker: Linker) -> None:
    foreign = _foreign_to(type(linker))
    for container in containers if foreign else ():
        value = container.storage[0]
        # To ask for JAX's arrays takes three times as long as for NumPy's.
        if not isinstance(value, np.ndarray) and isinstance(value, foreign):
            container.storage[0] = np.array(value, dtype=container.type.dtype)


@wraps(_call)
def call_with_readable_values(self: Function, *args: Any, **kwargs: Any) -> Any:
    linker = self.maker.linker
    _make_readable(self.input_storage, linker)
    results = _call(self, *args, **kwargs)
    if self._has_updates and type(linker) in _in_dtype:
        in_dtype = _in_dtype[type(linker)]
        for _, container in self._update_input_storage:
            dtype = getattr(container.type, "numpy_dtype", None)
            if dtype is not None:
                container.storage[0] = in_dtype(container.storage[0], dtype)
    return results


@wraps(_create)
def create_with_readable_values(
    self: FunctionMaker, input_storage: Any = None, storage_map: Any = None
) -> Function:
    values = [spec.value for spec in self.inputs] if input_storage is None else input_storage
    _make_readable((v for v in values if isinstance(v, Container)), self.linker)
    return _create(self, input_storage, storage_map)


@wraps(_deepcopy)
def deepcopy_of_container(self: Container, memo: dict[int, Any]) -> Container:
    (value,) = self.storage
    if value is None or self.type.is_valid_value(value):
        return _deepcopy(self, memo)
    # PyTensor's way fails for values of a backend's own kind.
    new = copy(self)
    new.storage = deepcopy(self.storage, memo)
    return new


@wraps(_get_value)
def get_value_for_users(
    self: SharedVariable, borrow: bool = False, return_internal_type: bool = False
) -> Any:
    value = _get_value(self, borrow, return_internal_type)
    for array, for_users in _for_users.items():
        if isinstance(value, array):
            return for_users(value)
    return value
