"""The small part of YAML that ``data.yaml`` files of detection data sets are written in."""

import re
from itertools import pairwise
from pathlib import Path


class YamlError(ValueError):
    """A line of a YAML file that `read_yaml` does not know."""


def read_yaml(path):
    """Read the part of YAML that ``data.yaml`` files are written in.

    That is a mapping of names to plain or quoted text, to lists or mappings of text, in brackets
    or indented, and to block text (``|``). Everything stays text: a class may be called ``no``
    or ``1``.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict of str to str, list of str or dict of str to str

    Raises
    ------
    YamlError
        Naming the line.
    """
    return _YamlReader(path).read()


_KEY = re.compile(
    r"""('(?:[^']|'')*'|"(?:[^"\\]|\\.)*"|[^\s'"\[\]{},#&*!|>%@`][^:]*?)\s*:(?:\s+|$)"""
)
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


def _unquoted(text):
    """(position, character) of what is outside of quotes."""
    quote, start, skip = None, True, False
    for place, char in enumerate(text):
        if skip:
            skip = False
        elif quote:
            if char == "\\" and quote == '"':
                skip = True
            elif char == quote:
                if quote == "'" and text[place + 1 : place + 2] == "'":
                    skip = True
                else:
                    quote = None
        elif char in "'\"" and start:  # an apostrophe within a word is none
            quote, start = char, False
        else:
            yield place, char
            start = char in ",:[{-" or (start and char.isspace())


class _YamlReader:
    def __init__(self, path):
        self.path = path
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise YamlError(f"{path} is not UTF-8 text: {error}") from None
        self.raw = text.splitlines()
        self.lines = [self._without_comment(line) for line in self.raw]
        self.at = 0

    def error(self, message, at=None):
        at = self.at if at is None else at
        text = self.raw[at].strip() if at < len(self.raw) else "end of the file"
        return YamlError(f"{self.path}, line {at + 1}: {message}: {text}")

    @staticmethod
    def _without_comment(line):
        for place, char in _unquoted(line):
            if char == "#" and (place == 0 or line[place - 1].isspace()):
                return line[:place].rstrip()
        return line.rstrip()

    def read(self):
        result = {}
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line == "" or line == "---":
                self.at += 1
                continue
            if line[0] == "\t":
                raise self.error("indented by a tab, where YAML wants spaces")
            if line[0].isspace():
                raise self.error("indented, but belongs to nothing")
            key, rest = self._split(line)
            if key in result:
                raise self.error(f"{key} is given twice")
            result[key] = self._value(rest)
        return result

    def _split(self, text):
        """(key, what follows the colon)"""
        found = _KEY.match(text)
        if not found:
            raise self.error("not of the form `key: value`")
        return self._scalar(found[1]), text[found.end() :].strip()

    def _scalar(self, text):
        text = text.strip()
        if re.fullmatch("'(?:[^']|'')*'", text):
            return text[1:-1].replace("''", "'")
        if re.fullmatch(r'"(?:[^"\\]|\\.)*"', text):
            return re.sub(r"\\(.)", self._escape, text[1:-1])
        if text[:1] in tuple("&*!|>%@`'\"[]{}") or re.search(r":(\s|$)", text) or text[:2] == "- ":
            raise self.error("a form of YAML that is not known here")
        return text

    def _escape(self, match):
        if match[1] not in _ESCAPES:
            raise self.error(f"unknown escape {match[0]}")
        return _ESCAPES[match[1]]

    def _value(self, rest):
        if rest[:1] in ("|", ">") and rest.strip("|>+-") == "":
            self.at += 1
            return self._block_text()
        if rest[:1] in ("[", "{"):
            return self._flow(rest)
        if rest:
            value = self._scalar(rest)
            self.at += 1
            return value
        self.at += 1
        return self._block()

    def _block_text(self):
        start = self.at
        while self.at < len(self.raw) and (
            not self.raw[self.at].strip() or self.raw[self.at][0].isspace()
        ):
            self.at += 1
        return "\n".join(self.raw[start : self.at])

    def _flow(self, text):
        first, closing = self.at, {"[": "]", "{": "}"}[text[0]]
        while True:
            ends = [place for place, char in _unquoted(text) if char == closing]
            if ends:
                break
            self.at += 1
            if self.at == len(self.lines):
                raise self.error(f"{closing} is missing", first)
            text += " " + self.lines[self.at].strip()
        if ends[0] != len(text) - 1:
            raise self.error(f"text after {closing}")
        inner = text[1:-1]
        commas = [place for place, char in _unquoted(inner) if char == ","]
        cuts = [-1, *commas, len(inner)]
        items = [inner[a + 1 : b].strip() for a, b in pairwise(cuts)]
        if items[-1] == "":  # a comma after the last item, or none at all
            items.pop()
        if closing == "]":
            value = [self._scalar(item) for item in items]
        else:
            value = self._mapping(self._split(item) for item in items)
        self.at += 1
        return value

    def _mapping(self, pairs):
        result = {}
        for key, rest in pairs:
            if key in result:
                raise self.error(f"{key} is given twice")
            result[key] = self._scalar(rest)
        return result

    def _block(self):
        """The indented list or mapping from here on; empty text if there is none."""
        listed, mapped, indent = [], {}, None
        while self.at < len(self.lines):
            line = self.lines[self.at]
            text = line.lstrip(" ")
            depth = len(line) - len(text)
            if line and not depth and not re.match(r"-(\s|$)", text):
                break
            if line:
                indent = depth if indent is None else indent
                if text[0] == "\t":
                    raise self.error("indented by a tab, where YAML wants spaces")
                if depth != indent:
                    raise self.error("indented otherwise than the line before")
                if re.match(r"-(\s|$)", text):
                    listed.append(self._scalar(text[1:]))
                else:
                    key, rest = self._split(text)
                    if key in mapped:
                        raise self.error(f"{key} is given twice")
                    mapped[key] = self._scalar(rest)
                if listed and mapped:
                    raise self.error("a list and a mapping in one")
            self.at += 1
        return listed or mapped or ""
