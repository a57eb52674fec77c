"""YAML files read as text: a class may be called ``no`` or ``1``."""

from pathlib import Path

import yaml


class YamlError(ValueError):
    """A YAML file that can't be read, or that isn't a mapping."""


def read_yaml(path):
    """Read a YAML file that holds a mapping; every scalar in it stays text.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        Values are str, list or dict; what is left out is "".

    Raises
    ------
    YamlError
        Naming the file, and the line where there is one.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise YamlError(f"{path} is not UTF-8 text: {error}") from None
    try:
        content = yaml.load(text, _TextLoader)
    except yaml.MarkedYAMLError as error:
        raise YamlError(f"{path}, {_place(error, text)}") from None
    except yaml.YAMLError as error:  # a character that YAML forbids
        raise YamlError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise YamlError(f"{path} must hold lines of the form `key: value`")
    return content


class _TextLoader(yaml.BaseLoader):
    """BaseLoader, which would take the last of several values of a key in silence."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    problem=f"{key.value} is given twice", problem_mark=key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


def _place(error, text):
    """Line, what is wrong, and the line's text."""
    number = error.problem_mark.line
    lines = text.splitlines()
    line = lines[number].strip() if number < len(lines) else "end of the file"
    # Where something was begun that isn't closed, say.
    begun = error.context_mark
    context = ""
    if begun is not None and begun.line != number:
        context = f" ({error.context} that begins in line {begun.line + 1})"
    return f"line {number + 1}: {error.problem}{context}: {line}"
