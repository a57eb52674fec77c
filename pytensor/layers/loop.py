"""Training: batches of arrays, and the loop over them."""

import csv
import io
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import length_hint
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import pytensor
from pytensor.compile.mode import Mode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import graph_inputs
from pytensor.layers.files import (
    States,
    generator_of,
    generator_state,
    load,
    needed,
    save,
    write_atomically,
)  # fmt: skip
from pytensor.layers.module import Module
from pytensor.optimizers.early_stopping import EarlyStopping
from pytensor.tensor.random.type import RandomType


class Batches:
    """The batches of `batches`; each loop over them is an epoch."""

    def __init__(self, arrays: Sequence[Any], size: int, rng: np.random.Generator | None) -> None:
        lengths = {len(array) for array in arrays}
        if len(lengths) != 1:
            raise ValueError(f"arrays must have the same number of rows, got {sorted(lengths)}")
        (self.rows,) = lengths
        if not 1 <= size <= self.rows:
            raise ValueError(f"size must be from 1 to the number of rows, {self.rows}; got {size}")
        self.arrays, self.size, self.rng = arrays, size, rng

    def __len__(self) -> int:
        return -(-self.rows // self.size) if self.rng is None else self.rows // self.size

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        order = np.arange(self.rows) if self.rng is None else self.rng.permutation(self.rows)
        for number in range(len(self)):
            rows = order[number * self.size : (number + 1) * self.size]
            yield tuple(array[rows] for array in self.arrays)


def batches(
    arrays: Sequence[ArrayLike], size: int, rng: np.random.Generator | int | None = None
) -> Batches:
    """Cut arrays into batches.

    Parameters
    ----------
    arrays : sequence of array_like
        Of the same number of rows.
    size : int
        Rows of a batch.
    rng : numpy.random.Generator or int, optional
        A generator or its seed.  Each epoch has another order then, and leaves out the rows that
        don't fill a batch.  Without it the order stays, and the last batch may be smaller.

    Returns
    -------
    iterable of tuple of numpy.ndarray
        Each loop over it is an epoch.

    Examples
    --------
    >>> from pytensor import layers
    >>> for (x,) in layers.batches([[1, 2, 3, 4, 5]], 2):
    ...     print(x)
    [1 2]
    [3 4]
    [5]
    """
    if hasattr(arrays, "shape"):
        raise TypeError(f"arrays come as a list: layers.batches([x], {size})")
    generator = None if rng is None else np.random.default_rng(rng)
    return Batches([np.asarray(array) for array in arrays], size, generator)


def fit(
    step: Callable[..., Any], batches: Iterable[Sequence[Any]], epochs: int, *,
    module: Module | None = None, optimizer: States = None,
    validate: Callable[[], float] | None = None,
    checkpoint: str | os.PathLike[str] | None = None, patience: int = 0,
) -> list[dict[str, float]]:  # fmt: skip
    """Train: call a step with each batch of each epoch, and print a line for each epoch.

    Parameters
    ----------
    step : callable
        Takes the arrays of a batch and returns the loss.  Of a compiled function, the shared
        generators are saved too.
    batches : iterable of sequence of arrays
        Each loop over it is an epoch: `pytensor.layers.batches`, or a list.  If an attribute `rng`
        is a generator that decides on the order, its state is saved.
    epochs : int
        Passes over the batches in all, those before a checkpoint included.
    module : Module, optional
        What is trained; a checkpoint needs it.
    optimizer : Optimizer, or what else has a `state`, or a sequence of these; optional
        Saved in the checkpoint.  The learning rate of the first one is shown.
    validate : callable, optional
        Returns a score after each epoch, larger if better.
    checkpoint : path-like, optional
        A safetensors file, written after each epoch and at Ctrl-C.  If it exists, the training goes
        on from it, with the same numbers as if it had not been interrupted.  Next to it are a table
        of the epochs, ``.csv``, and the parameters of the best score, ``.best.safetensors``.
    patience : int
        Epochs without a better score after which to stop; 0 is never.

    Returns
    -------
    list of dict
        For each epoch: epoch, mean loss, score, learning rate, and seconds.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C, after the checkpoint has been written; at the second Ctrl-C at once.
    ValueError
        If parameters are not finite, or the checkpoint is of another network or training.

    Examples
    --------
    >>> import pytensor
    >>> import pytensor.tensor as pt
    >>> from pytensor import layers
    >>> from pytensor.optimizers import SGD
    >>> net, x, y = layers.Linear(1, 1), pt.matrix("x"), pt.matrix("y")
    >>> loss, optimizer = ((net(x) - y) ** 2).mean(), SGD(lr=0.1)
    >>> updates = optimizer.minimize(loss, net)
    >>> step = pytensor.function([x, y], loss, updates=updates, mode="FAST_COMPILE")
    >>> data = layers.batches([[[0.0], [1.0]], [[1.0], [3.0]]], size=2)
    >>> rows = layers.fit(step, data, epochs=100, optimizer=optimizer)  # doctest: +ELLIPSIS
    epoch 1, loss ...
    >>> bool(rows[-1]["loss"] < 0.01)
    True
    """
    if isinstance(step, Module) or not callable(step):
        raise TypeError("step must be a compiled function; the network is given by module=net")
    if validate is not None and not callable(validate):
        raise TypeError(
            "validate must be a function that returns the score, such as "
            "validate=lambda: -float(loss(x, y))"
        )
    if iter(batches) is batches:
        raise TypeError("batches are looped over in each epoch; pass a list, not an iterator")
    if isinstance(batches, list) and batches and isinstance(batches[0], np.ndarray):
        raise TypeError("a batch is a list of arrays; write layers.batches([x, y], 50) for arrays")
    if checkpoint is not None and module is None:
        raise ValueError("a checkpoint needs module=, and optimizer= if there is one")
    if patience and validate is None:
        raise ValueError("patience needs validate=, a function that returns the score")
    tqdm = needed("tqdm", "pytensor.layers.fit").tqdm
    rng, count = getattr(batches, "rng", None), length_hint(batches, 0)
    rows: list[dict[str, float]] = []
    losses: list[Any] = []  # of the epoch that is running
    run = None
    if checkpoint is not None and module is not None:
        run = _Run(checkpoint, module, optimizer, step)
    if run is not None and run.path.exists():
        info = run.load()
        if info.get("batches") != count:
            wrong = info.get("batches")
            raise ValueError(f"{checkpoint}: of {wrong} batches an epoch, not {count}")
        rows, losses = info["rows"], info["losses"]
        if rng is not None:
            rng.bit_generator.state = info["data"]["bits"]
    stopping, rate = EarlyStopping(patience), _rate_of(optimizer)
    done = [stopping.update(k, row["score"]) for k, row in enumerate(rows, 1) if "score" in row]
    if rows or losses:
        where = f"epoch {len(rows)}" + (f" and {len(losses)} batches" if losses else "")
        ended = len(rows) >= epochs or any(done[-1:])
        print(
            f"{checkpoint}: the training has ended, after {where}; delete the file to train again"
            if ended
            else f"{checkpoint}: goes on after {where}"
        )

    def keep(data: Any) -> None:
        if run is not None:
            numbers = [_number(loss) for loss in losses]
            run.save({"rows": rows, "losses": numbers, "batches": count, "data": data})

    bar = tqdm(total=epochs * count or None, initial=len(rows) * count + len(losses), unit="batch")
    with bar, _noting_interrupts(run is not None) as interrupts:
        while len(rows) < epochs and not any(done[-1:]):
            begin, data = time.perf_counter(), rng and generator_state(rng)
            bar.set_description(f"epoch {len(rows) + 1}/{epochs}")
            for batch in islice(batches, len(losses), None):
                losses.append(step(*batch))
                if bar.update():
                    bar.set_postfix(loss=_number(losses[-1]), **rate(), refresh=False)
                if interrupts:
                    keep(data)
                    raise KeyboardInterrupt
            row = {"epoch": len(rows) + 1, "loss": float(np.mean([*map(_number, losses)]))}
            if validate is not None:
                row["score"] = float(validate())
                done.append(stopping.update(len(rows) + 1, row["score"]))
            rows.append(row | rate() | {"seconds": time.perf_counter() - begin})
            losses.clear()
            bar.write(", ".join(f"{name} {value:.4g}" for name, value in rows[-1].items()))
            keep(rng and generator_state(rng))
            if run is not None:
                run.save_table(rows)
                if stopping.best_epoch == len(rows):
                    run.save_best()
            if interrupts:
                raise KeyboardInterrupt
    return rows


class _Run:
    """The files of a training."""

    def __init__(
        self, path: str | os.PathLike[str], module: Module, optimizer: States, step: Any
    ) -> None:
        self.path, self.module, self.optimizer = Path(path), module, optimizer
        # Those that a compiled step draws from; some may not be the module's.
        self.generators = [
            container
            for container in getattr(step, "input_storage", ())
            if isinstance(container.type, RandomType) and not container.required
        ]

    def save(self, info: dict[str, Any]) -> None:
        info["generators"] = [generator_state(container.value) for container in self.generators]
        save(self.path, self.module, self.optimizer, info)

    def load(self) -> dict[str, Any]:
        info = load(self.path, self.module, self.optimizer)
        states = info.get("generators", [])
        if len(states) != len(self.generators):
            raise ValueError(
                f"{self.path}: of a step with {len(states)} generators, not "
                f"{len(self.generators)}; pass the compiled function itself as step"
            )
        for container, state in zip(self.generators, states, strict=True):
            container.value = generator_of(state)
        return info

    def save_table(self, rows: list[dict[str, float]]) -> None:
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(self.path.with_suffix(".csv"), text.getvalue().encode())

    def save_best(self) -> None:
        save(self.path.with_suffix(".best.safetensors"), self.module)


def _number(loss: Any) -> float:
    """Return a step's output, a scalar or a list of one, as a number; it may be on a device."""
    return float(np.asarray(loss).reshape(()))


def _rate_of(optimizer: States) -> Callable[[], dict[str, float]]:
    """Return a function that computes the present learning rate, if that is known."""
    owners: Any = optimizer if isinstance(optimizer, Sequence) else [optimizer]
    first = next((owner for owner in owners if hasattr(owner, "value_of")), None)
    if first is None:
        return dict
    rate = first.value_of("learning_rate")
    if not isinstance(rate, Variable):
        return lambda: {"rate": float(rate)}
    if not all(isinstance(v, SharedVariable | Constant) for v in graph_inputs([rate])):
        return dict  # an argument of the step
    mode = Mode(linker="py", optimizer=None)  # type: ignore[arg-type]
    compute = pytensor.function([], rate, mode=mode)
    return lambda: {"rate": float(compute())}


@contextmanager
def _noting_interrupts(wanted: bool) -> Iterator[list[int]]:
    """Yield a list to which the first Ctrl-C is added; the second one has its usual effect."""
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    main = threading.current_thread() is threading.main_thread()
    if not wanted or not main or before == signal.SIG_IGN:
        yield came
        return

    def note(number: int, _: Any) -> None:
        came.append(number)
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, note)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)
