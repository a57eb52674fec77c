"""Functions of one, two and three spatial axes that are written, and documented, once."""

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
}


def family(make, name, examples):
    """Make a function for each number of axes.

    Parameters
    ----------
    make : callable
        Returns, of the number n of axes and the function's name, the function.  Words in braces
        of its docstring are those of `WORDS`, and ``{n}``.
    name : str
        With ``{n}`` for the number of axes.
    examples : dict of int to str
        The docstring's last section by the number of axes.

    Returns
    -------
    list of callable
    """
    functions = []
    for n, example in examples.items():
        function = make(n, name.format(n=n))
        function.__name__ = function.__qualname__ = name.format(n=n)
        text = cleandoc(function.__doc__).format(n=n, **WORDS[n])
        function.__doc__ = f"{text}\n\nExamples\n--------\n{cleandoc(example)}\n"
        functions.append(function)
    return functions
