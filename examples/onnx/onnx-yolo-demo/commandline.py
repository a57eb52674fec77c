"""The command lines of this folder's programs: a mistake gets one line, and gets it at once."""

import argparse
import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn


class Parser(argparse.ArgumentParser):
    """Parse a command line; name the nearest option where there is no such one."""

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # type: ignore[override]
        """Parse as `argparse.ArgumentParser` does."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            name = unknown[0].partition("=")[0]
            names = [option.lstrip("-") for option in self._option_string_actions]
            near = difflib.get_close_matches(name.lstrip("-"), names, 1, 0.55)
            hint = f"; did you mean --{near[0]}?" if near else ""
            self.error(f"unknown argument {name}{hint}")
        return options

    def error(self, message: str) -> NoReturn:
        """Print one line instead of all options, and end with exit code 2."""
        self.exit(2, f"{self.prog}: error: {message} (--help lists all options)\n")


def existing(text: str) -> str:
    """Parse an argument that names a file or a folder; an error where there is none."""
    if not Path(text).exists():
        raise argparse.ArgumentTypeError(f"{text} does not exist")
    return text


def output_folder(text: str) -> Path:
    """Parse an argument that names a folder to write to, which is made later."""
    path = Path(text)
    nearest = next(each for each in (path, *path.absolute().parents) if each.exists())
    where = "it" if nearest is path else nearest
    reason = "write-protected" if nearest.is_dir() else "a file"
    if reason == "a file" or not os.access(nearest, os.W_OK | os.X_OK):
        raise argparse.ArgumentTypeError(
            f"can't write to {text}: {where} is {reason}; give another folder"
        )
    return path


def output_file(text: str) -> Path:
    """Parse an argument that names a file to write; its folder is made later."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder; give a file's name")
    output_folder(str(path.parent))
    return path


def check_unused(folder: Path, names: Sequence[str], overwrite: bool) -> None:
    """Raise FileExistsError if a folder has labels or pictures, which a person may have corrected.

    `names` are those that will be written.
    """
    found = [name for name in names if (folder / name).exists()]
    if found and not overwrite:
        raise FileExistsError(
            f"{folder} holds labels or pictures already ({', '.join(found)}): --overwrite replaces "
            "them, --out takes another folder"
        )
