"""Functions of so many spatial axes that are written, and documented, once."""

from collections.abc import Callable, Iterable
from inspect import cleandoc, signature
from typing import Any, Concatenate

WORDS: dict[int | str, dict[str, str]] = {
    1: {
        "number": "one",
        "last": "the last axis",
        "image": "length",
        "output": "output length",
        "kernel": "kernel length",
        "ints": "int or (int,)",
        "pairs": "int or one pair (before, after) in a tuple",
    },
    2: {
        "number": "two",
        "last": "the last two axes",
        "image": "height, width",
        "output": "output height, output width",
        "kernel": "kernel height, kernel width",
        "ints": "int or (int, int)",
        "pairs": "int, (int, int), or two pairs (before, after)",
    },
    3: {
        "number": "three",
        "last": "the last three axes",
        "image": "depth, height, width",
        "output": "output depth, output height, output width",
        "kernel": "kernel depth, kernel height, kernel width",
        "ints": "int or (int, int, int)",
        "pairs": "int, (int, int, int), or three pairs (before, after)",
    },
    "n": {
        "last": "the last ``len(ws)`` axes",
        "image": r"\*lengths",
        "output": r"\*output lengths",
        "ints": "tuple of int",
        "pairs": "int, tuple of int, or of pairs (before, after)",
    },
}


def family[**P, Result](
    common: Callable[Concatenate[Any, str, P], Result], name: str, example: str,
    numbers: Iterable[int | str] = (1, 2, 3),
) -> list[Callable[P, Result]]:  # fmt: skip
    """Make a function for each number of axes.

    `common` takes the number n and the function's name before its other arguments.  Words in braces
    of its docstring are those of `WORDS`, and ``{n}``, which the `name` has too.  The `example`, of
    two axes, becomes the docstring's last section.
    """
    return [_member(common, n, name, example) for n in numbers]


def _member(common: Any, n: int | str, names: str, example: str) -> Any:
    name = names.format(n=n)

    def function(*args: Any, **kwargs: Any) -> Any:
        return common(n, name, *args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = common.__module__
    _, _, *own = signature(common).parameters.values()
    function.__signature__ = signature(common).replace(parameters=own)  # type: ignore[attr-defined]
    text = cleandoc(common.__doc__).format(n=n, **WORDS[n])
    of_two = "" if n == 2 else f"Of two axes, `{names.format(n=2)}`:\n\n"
    function.__doc__ = f"{text}\n\nExamples\n--------\n{of_two}{cleandoc(example)}\n"
    return function
