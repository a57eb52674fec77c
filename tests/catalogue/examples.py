"""Examples of operators: what the entries of the catalogue are."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

import pytensor
import pytensor.tensor as pt


def of_dtype(values, dtype):
    """Return numbers of a dtype: integers without their signs, booleans that are True where > 0."""
    if np.dtype(dtype).kind == "f":
        return values.astype("float32").astype(dtype)
    return values > 0 if dtype == "bool" else np.abs(np.rint(values)).astype(dtype)


def numbers(rng, shape, dtype):
    """Draw numbers of both signs without ties; those of float64 are numbers of float32, too."""
    return of_dtype(rng.normal(size=shape), dtype)


def small(rng, shape, dtype):
    return of_dtype(rng.normal(size=shape) / 2, dtype)


def wide(rng, shape, dtype):
    """Draw numbers on both sides of where activations have their kinks."""
    return of_dtype(3 * rng.normal(size=shape), dtype)


def positive(rng, shape, dtype):
    return of_dtype(np.abs(rng.normal(size=shape)) + 0.5, dtype)


def fractions(rng, shape, dtype):
    """Return distinct small numbers, within (0, 1) where the dtype is a float."""
    size = int(np.prod(shape))
    if dtype == "bool":
        return (np.arange(size) % 2 == 0).reshape(shape)
    values = (np.arange(size) * 7) % (size + 3) + 1
    if dtype.startswith("float"):
        values = values / (size + 4)
    return values.astype(dtype).reshape(shape)


def winners(count):
    """Return what draws where windows of length 2 along the last axes had their maximum."""

    def draw(rng, shape, dtype):
        places = [
            2 * np.arange(n).reshape([-1 if a == axis else 1 for a in range(len(shape))])
            + rng.integers(2, size=shape)
            for axis, n in enumerate(shape)
            if axis >= len(shape) - count
        ]
        return np.ravel_multi_index(places, [2 * n for n in shape[-count:]]).astype("int64")

    return draw


def always(value, dtype=None):
    """Return what draws one value, of the example's dtype unless another is given."""
    return lambda rng, shape, of: np.asarray(value).astype(dtype or of)


@dataclass(frozen=True)
class Input:
    """An input of an example.

    Attributes
    ----------
    shape : tuple of int
        Of its values.
    known : tuple of (int or None)
        Which of these lengths a user's graph knows, where batches and images are of any size.
    draw : callable
        Draws values, given a generator, a shape and the example's dtype, which they have unless
        they are an index or a length.
    """

    shape: tuple[int, ...]
    known: tuple[int | None, ...]
    draw: Callable = numbers

    def value(self, rng, dtype="float64", batch=()):
        return self.draw(rng, (*batch, *self.shape), dtype)


def image(*shape):
    """Return an image, of which only the number of channels is known."""
    return Input(shape, (None, shape[1], *[None] * (len(shape) - 2)))


def unknown(*shape, draw=numbers):
    return Input(shape, (None,) * len(shape), draw)


def parameter(*shape, draw=small):
    return Input(shape, shape, draw)


@dataclass(frozen=True, eq=False)  # some Ops have no hash before they have made a node
class Example:
    """A small graph of an operator.

    Attributes
    ----------
    name : str
        The function's, and after a comma what is special about this graph.
    build : callable
        Returns one variable or several for those of `inputs`.
    inputs : tuple of Input
    row : bool
        Whether it has a row in the table of what runs where (`docs.tools.backends`).
    takes_dtype : bool
        Whether `build` takes a keyword `dtype`, of what isn't made of the inputs.
    integers : bool
        Whether the operator takes integers, too.
    long : bool
        Whether it takes seconds in every backend, or differs little from another example: by
        default only its values are tried.
    fails : dict of str to str
        What `tests.test_operators` expects to fail, with the reason: a question, or the names of a
        backend and a question, as in "batch" and "JAX value".
    """

    name: str
    build: Callable
    inputs: tuple[Input, ...]
    row: bool = False
    takes_dtype: bool = False
    integers: bool = False
    long: bool = False
    fails: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def function(self):
        return self.name.partition(",")[0]

    @property
    def shapes(self):
        return [entry.shape for entry in self.inputs]

    def values(self, dtype="float64"):
        """Return values for the inputs, the same for the same dtype."""
        rng = np.random.default_rng(0)
        return [entry.value(rng, dtype) for entry in self.inputs]

    def variables(self, dtype="float64", known="nothing"):
        """Return variables for the inputs.

        Parameters
        ----------
        dtype : str
            Of those that aren't integers in any case.
        known : {"nothing", "some", "all"}
            How many lengths their types know: none, those of a user's graph (`Input.known`), all.
        """
        shapes = {
            "nothing": [(None,) * len(shape) for shape in self.shapes],
            "some": [entry.known for entry in self.inputs],
            "all": self.shapes,
        }[known]
        return [
            pt.tensor(f"x{k}", shape=shape, dtype=value.dtype)
            for k, (shape, value) in enumerate(zip(shapes, self.values(dtype), strict=True))
        ]

    def outputs(self, *inputs, dtype="float64"):
        """Return the list of what `build` makes of variables."""
        built = self.build(*inputs, **({"dtype": dtype} if self.takes_dtype else {}))
        return list(built) if isinstance(built, list | tuple) else [built]

    def graph(self, dtype="float64", *, known="nothing", order=0):
        """Return the example as a function needs it, with gradients.

        Parameters
        ----------
        dtype : str
            Of all inputs and results that aren't integers.
        known : str
            As for `variables`.
        order : int
            The first gradients are of the sum of the cubes of all results of the dtype, and the
            next ones of the sum of the squares of the gradients before.

        Returns
        -------
        tuple of lists
            Variables of the inputs; the results, and up to `order` times a gradient for each input
            of the dtype; values for the inputs.
        """
        inputs, results = _graph(self, dtype, known, order, pytensor.config.floatX)
        return [*inputs], [*results], self.values(dtype)


@lru_cache(maxsize=16)
def _graph(example, dtype, known, order, floatX):
    """Return inputs and results of `Example.graph`, which backends and questions share."""
    inputs = example.variables(dtype, known)
    outputs = example.outputs(*inputs, dtype=dtype)
    results, wrt = list(outputs), [x for x in inputs if x.type.dtype == dtype]
    terms = [out**3 for out in outputs if out.type.dtype == dtype]
    for _ in range(order if terms else 0):
        cost = sum(term.sum(dtype=dtype) for term in terms)
        gradients = pytensor.grad(cost, wrt, disconnected_inputs="ignore")
        results += gradients
        terms = [gradient**2 for gradient in gradients]
    return inputs, results
