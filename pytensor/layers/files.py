"""Files of networks: safetensors, written atomically.

Parameters and buffers have their names in the state dict, so that PyTorch reads the file, too.  The
state of optimizers has the prefix ``optimizer/``.  Generators and what isn't an array are JSON in
the file's metadata.
"""

import importlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pytensor.compile.sharedvalue import SharedVariable
from pytensor.layers.module import Loaded, Module, load_all

STATE = "optimizer/"
# How to read files of other formats
_OF_TORCH = "; in PyTorch write safetensors.torch.save_file(model.state_dict(), path)"
FORMATS = {
    ".npz": "; write net.load_state_dict(np.load(path))",
    ".onnx": "; ONNX files are read by pytensor.link.onnx.from_onnx",
    ".pt": _OF_TORCH,
    ".pth": _OF_TORCH,
}


class HasState(Protocol):
    """An optimizer, an average of parameters, or what else has variables to be saved."""

    state: Any


type States = HasState | Iterable[HasState] | None


def needed(package: str, what: str) -> Any:
    """Import a package of the extra `layers`."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{what} needs the package {error.name!r}: pip install safetensors tqdm",
            name=error.name,
        ) from error


def state_of(optimizer: States) -> dict[str, SharedVariable]:
    """Return the variables of one or several optimizers by name."""
    if optimizer is None:
        return {}
    owners: Any = [optimizer] if hasattr(optimizer, "state") else optimizer
    state: dict[str, SharedVariable] = {}
    for owner in owners:
        if twice := state.keys() & owner.state.keys():
            raise ValueError(f"two optimizers have state called {min(twice)!r}")
        state |= owner.state
    return state


def write_atomically(path: Path, data: bytes) -> None:
    """Write bytes so that `path` always has the old content or the new one, whole."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def generator_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return all that a generator's draws depend on; some backends draw by its seeds."""
    bits = generator.bit_generator
    seeds: Any = bits.seed_seq
    return {"bits": bits.state, "seeds": seeds.state}


def generator_of(state: Mapping[str, Any]) -> np.random.Generator:
    """Make a generator of what `generator_state` has returned, also after a way through JSON."""
    make: Any = getattr(np.random, state["bits"]["bit_generator"])
    bits = make(np.random.SeedSequence(**state["seeds"]))
    bits.state = state["bits"]
    return np.random.Generator(bits)


def _check_order(function: str, path: Any, module: Any) -> None:
    if hasattr(path, "keys") or not hasattr(module, "state_dict"):
        raise TypeError(f"the path comes first, then the module: layers.{function}(path, net)")


def save(
    path: str | os.PathLike[str], module: Module, optimizer: States = None,
    info: Mapping[str, Any] | None = None,
) -> None:  # fmt: skip
    """Write a module's parameters and buffers, and the state of optimizers, to a file.

    The file is replaced as a whole: if the program is killed, the old one is still there.

    Parameters
    ----------
    path : path-like
        A safetensors file.
    module : Module
    optimizer : Optimizer, or what else has a `state`, or a sequence of these; optional
        Generators of the module are saved with it.
    info : mapping, optional
        What JSON can express; `load` returns it.

    Raises
    ------
    ValueError
        If an array has a value that isn't finite; the old file is kept then.
    ModuleNotFoundError
        If safetensors isn't installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from pytensor import layers
    >>> path, net = Path(tempfile.mkdtemp()) / "net.safetensors", layers.Linear(3, 2)
    >>> layers.save(path, net, info={"classes": ["cat", "dog"]})
    >>> layers.load(path, net)
    {'classes': ['cat', 'dog']}
    """
    _check_order("save", path, module)
    state = {STATE + name: v.get_value(borrow=True) for name, v in state_of(optimizer).items()}
    # np.asarray with an order, for ascontiguousarray makes scalars one-dimensional
    arrays = {
        name: np.asarray(value, order="C") for name, value in (module.state_dict() | state).items()
    }
    broken = [name for name, value in arrays.items() if not np.isfinite(value).all()]
    if broken:
        raise ValueError(
            f"{path} is not written: {broken[0]} and {len(broken) - 1} other arrays are not "
            "finite; try a smaller learning rate"
        )
    generators = module.named_generators() if optimizer is not None else {}
    about = {
        "info": dict(info or {}),
        "generators": {name: generator_state(v.get_value()) for name, v in generators.items()},
    }
    safetensors = needed("safetensors.numpy", "saving a network")
    metadata = {"pytensor.layers": json.dumps(about, default=np.ndarray.tolist)}
    write_atomically(Path(path), safetensors.save(arrays, metadata=metadata))


def load(
    path: str | os.PathLike[str], module: Module, optimizer: States = None
) -> dict[str, Any]:
    """Set a module, and optimizers if given, to the values in a file of `save`.

    Parameters
    ----------
    path : path-like
        A safetensors file of `save`, or of PyTorch's state dict.
    module : Module
    optimizer : Optimizer, or what else has a `state`, or a sequence of these; optional
        After their updates have been built, which makes their state.  Generators of the module are
        set with it.

    Returns
    -------
    dict
        The `info` of `save`.

    Raises
    ------
    ValueError
        If `path` is no safetensors file, or names or shapes in it are not the module's and
        optimizer's.  Nothing is set then.
    ModuleNotFoundError
        If safetensors isn't installed.
    """
    safetensors = needed("safetensors", "loading a network")
    _check_order("load", path, module)
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            about = json.loads((file.metadata() or {}).get("pytensor.layers", "{}"))
    except safetensors.SafetensorError as error:
        fix = FORMATS.get(Path(path).suffix, "")
        raise ValueError(f"{path}: no safetensors file ({error}){fix}") from None
    weights = {name: v for name, v in arrays.items() if not name.startswith(STATE)}
    own = module.named_parameters() | module.named_buffers()
    parts: list[Loaded] = [(f"this {type(module).__name__}", own, weights)]
    if optimizer is not None:
        values = {
            name.removeprefix(STATE): v for name, v in arrays.items() if name.startswith(STATE)
        }
        parts.append(("this optimizer (build its updates first)", state_of(optimizer), values))
    try:
        load_all(*parts)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if optimizer is not None:
        generators = about.get("generators", {})
        for name, variable in module.named_generators().items():
            if name in generators:
                variable.set_value(generator_of(generators[name]), borrow=True)
    info: dict[str, Any] = about.get("info", {})
    return info
