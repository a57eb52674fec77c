"""The options of `jax_mode`: they make its signature, and name its programs on disk."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from typing import Any, Literal, get_args

from pytensor.link.jax.target import AXIS, PLATFORMS

__all__ = ["Options", "with_options"]

Precision = Literal["float32", "bf16"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `pytensor.link.jax.jax_mode`, which describes them."""

    donate: bool = False
    precision: Precision = "float32"
    named_scopes: bool = True
    keep_programs: bool = False
    cpu_kernels: bool = False
    guard: bool = True
    mesh: Any = None
    sync_batchnorm: bool = False
    platform: Literal["cpu", "gpu", "cuda", "rocm", "tpu"] | None = None
    check_indices: bool = True

    def __post_init__(self) -> None:
        if self.platform is not None and self.platform not in PLATFORMS:
            raise ValueError(f"platform is {self.platform!r}; it must be one of {(*PLATFORMS,)}")
        if self.precision not in get_args(Precision):
            raise ValueError(
                f"precision is {self.precision!r}; it must be one of {get_args(Precision)}"
            )
        if self.devices > 1 and self.mesh.axis_names != (AXIS,):
            raise ValueError(
                f"the mesh has the axes {self.mesh.axis_names}; it must have one, {AXIS!r}: take "
                "the mesh of pytensor.link.jax.parallel.devices.Devices"
            )

    @property
    def devices(self) -> int:
        """Return how many devices share a batch."""
        return 1 if self.mesh is None else self.mesh.size


def with_options[**P, R](
    _: Callable[P, Options],
) -> Callable[[Callable[[Options], R]], Callable[P, R]]:
    """Give a function of options the parameters that make them, for type checkers, too."""

    def decorate(function: Callable[[Options], R]) -> Callable[P, R]:
        Options.__init__.__qualname__ = function.__qualname__  # which Python's errors name
        @wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            return function(Options(*args, **kwargs))

        returned = signature(function).return_annotation
        both = signature(Options).replace(return_annotation=returned)
        called.__signature__ = both  # type: ignore[attr-defined]
        return called

    return decorate
