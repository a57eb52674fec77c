"""Functions of so many spatial axes that are written, and documented, once."""

from inspect import cleandoc

WORDS = {
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


def family(make, name, example, numbers=(1, 2, 3)):
    """Make a function for each number of axes.

    `make` returns, of the number n and the function's name, the function: words in braces of its
    docstring are those of `WORDS`, and ``{n}``, which the `name` has too.  The `example`, of two
    axes, becomes the docstring's last section.
    """
    functions = []
    for n in numbers:
        function = make(n, name.format(n=n))
        function.__name__ = function.__qualname__ = name.format(n=n)
        text = cleandoc(function.__doc__).format(n=n, **WORDS[n])
        of_two = "" if n == 2 else f"Of two axes, `{name.format(n=2)}`:\n\n"
        function.__doc__ = f"{text}\n\nExamples\n--------\n{of_two}{cleandoc(example)}\n"
        functions.append(function)
    return functions
