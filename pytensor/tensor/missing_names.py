"""Errors for names that are called otherwise here, in PyTorch for example."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from inspect import Signature
from typing import Any


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def missing_name(
    owner: str, name: str, names: Iterable[str], elsewhere: Mapping[str, str], form: str = "use {}"
) -> AttributeError:
    """Return the error for an attribute that `owner` doesn't have.

    Parameters
    ----------
    owner, name : str
    names : iterable of str
        The attributes that it has.  Upper case and underscores don't count in the comparison.
    elsewhere : mapping of str to str
        What to write for names that users of other libraries expect.
    form : str
        What to write for one of `names`, which is filled in.

    Returns
    -------
    AttributeError
        One line: what to write, or the nearest names.
    """
    message = f"{owner} has no attribute {name!r}"
    if name.startswith("_"):
        return AttributeError(message)
    own = {_plain(known): known for known in names}
    fixes = {_plain(other): fix for other, fix in elsewhere.items()}
    fixes |= {plain: form.format(known) for plain, known in own.items()}
    plain = _plain(name)
    if plain in fixes:
        return AttributeError(f"{message}: {fixes[plain]}")
    near = [own[match] for match in get_close_matches(plain, own, 3, 0.6)]
    return AttributeError(f"{message}; the nearest are {', '.join(near)}" if near else message)


def check_arguments(owner: str, taken: Signature, *args: Any, **kwargs: Any) -> None:
    """Raise a TypeError that names `owner` and its parameters, unless the arguments fit these.

    Python's own names the function that is called in the end, which can be a private one.
    """
    try:
        taken.bind(*args, **kwargs)
    except TypeError as error:
        names = ", ".join(taken.parameters)
        raise TypeError(f"{owner}: {error}; it takes {names}") from None
