"""Join a page of one HTML file, scripts and a style sheet into a single file.

The scripts and styles stand inline then, and the page's Content Security Policy names them by
their hashes instead of by where they come from.
"""

import base64
import hashlib
import re
from html import escape
from html.parser import HTMLParser
from typing import NamedTuple

# Attributes by which a page asks for other files.
REQUESTS = {"src", "srcset", "poster", "data", "background", "action", "formaction", "manifest"}
INLINE = ("data:", "blob:", "#")
UNSAFE = ("'unsafe-inline'", "'unsafe-eval'")


class PageError(Exception):
    """The page can't be made into a single file; the message says why."""


class Part(NamedTuple):
    """A piece of the page that becomes something else."""

    start: int  # of the text
    end: int
    kind: str  # script, style or policy
    value: str  # the file, or the policy


class PageParts(HTMLParser):
    """Finds what a page loads, and its policy.

    Parameters
    ----------
    text : str
        The page.

    Attributes
    ----------
    parts : list of Part
        In the order of the text.

    Raises
    ------
    PageError
        If the page loads something else, or runs code that stands in it.
    """

    def __init__(self, text):
        super().__init__(convert_charrefs=False)
        self.parts = []
        self._script = None  # start and file of the script that is open
        self._lines = [0]
        for line in text.split("\n"):  # what the parser counts as lines, and nothing else
            self._lines.append(self._lines[-1] + len(line) + 1)
        self._text = text
        self.feed(text)
        self.close()
        if self._script is not None:
            raise PageError(f"the page doesn't close the script {self._script[1]}")

    def _position(self):
        line, column = self.getpos()
        return self._lines[line - 1] + column

    def handle_starttag(self, tag, attributes):
        """Note scripts, styles and the policy; refuse what can't be inline."""
        given = dict(attributes)
        start = self._position()
        end = start + len(self.get_starttag_text())
        self._refuse_code(tag, given)
        if tag == "script":
            if given.get("type", "text/javascript") != "text/javascript" or given.keys() & {
                "async",
                "defer",
            }:
                raise PageError(
                    f"{self._text[start:end]}: only plain classic scripts can be inline"
                )
            self._script = start, given["src"]
        elif tag == "link" and "stylesheet" in (given.get("rel") or "").split():
            self.parts.append(Part(start, end, "style", given["href"]))
        elif tag == "meta" and (given.get("http-equiv") or "").lower() == "content-security-policy":
            self.parts.append(Part(start, end, "policy", given["content"]))
        else:
            self._refuse_requests(tag, given)

    def handle_endtag(self, tag):
        """Note a script's end."""
        if tag == "script" and self._script is not None:
            start, source = self._script
            end = self._text.index(">", self._position()) + 1
            self.parts.append(Part(start, end, "script", source))
            self._script = None

    def handle_data(self, data):
        """Refuse code between a script's tags."""
        if self._script is not None and data.strip():
            raise PageError(f"the script {self._script[1]} has code of its own in the page, too")

    def _refuse_code(self, tag, given):
        if tag == "style" or (tag == "script" and "src" not in given):
            raise PageError(f"the page has an inline {tag}; it belongs in a file below page/")
        for name in given:
            if name == "style" or name.startswith("on"):
                raise PageError(
                    f"the page's {tag} has an attribute {name}, which its policy blocks"
                )

    def _refuse_requests(self, tag, given):
        names = given.keys() & (REQUESTS | ({"href"} if tag == "link" else set()))
        for name in sorted(names):
            if not (given[name] or "#").startswith(INLINE):
                raise PageError(f"the page's {tag} loads {given[name]}, which can't be inline")


def safe_script(text):
    """JavaScript that doesn't end its element early.

    In strings, plain templates and regular expressions, the only places where these characters
    are sensible, the escape means the same.
    """
    return re.sub(r"<(?=/script|!--)", r"\\x3c", text, flags=re.IGNORECASE)


def safe_style(text):
    """CSS that doesn't end its element early."""
    return re.sub(r"<(?=/style)", r"<\\", text, flags=re.IGNORECASE)


def source_hash(text):
    """How a Content Security Policy names an inline script or style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def strict_policy(policy, scripts, styles):
    """Return a policy that allows inline code by its hash alone, and no files.

    Parameters
    ----------
    policy : str
        That of the page of many files.
    scripts, styles : list of str

    Raises
    ------
    PageError
        If the policy lacks script-src or style-src, or allows more than it should.
    """
    hashes = {"script-src": [*map(source_hash, scripts)], "style-src": [*map(source_hash, styles)]}
    directives = [words for part in policy.split(";") if (words := part.split())]
    missing = {*hashes, "default-src"} - {name for name, *_ in directives}
    if missing:
        raise PageError(f"the page's Content-Security-Policy lacks {', '.join(sorted(missing))}")
    result = []
    for name, *sources in directives:
        if unsafe := [source for source in sources if source in UNSAFE]:
            raise PageError(f"the page's Content-Security-Policy allows {unsafe[0]}")
        if name in hashes:
            # What stays are keywords and schemes without files.
            sources = [s for s in sources if s in ("'wasm-unsafe-eval'", "blob:", "data:")]
            sources = [*dict.fromkeys(hashes[name]), *sources]
        result.append(" ".join([name, *sources]))
    return "; ".join(result)


def inline_page(text, read):
    """Return the page as a single file.

    Parameters
    ----------
    text : str
        The page, which loads its scripts and styles from files.
    read : callable of str -> str
        Gives the content of the file that the page calls so.

    Raises
    ------
    PageError
        If that isn't possible.
    """
    parts = PageParts(text).parts
    kinds = [part.kind for part in parts]
    if kinds.count("policy") != 1 or kinds[0] != "policy":
        raise PageError("the page needs one Content-Security-Policy, before its scripts and styles")
    safe = {"script": safe_script, "style": safe_style}
    inline = {"script": [], "style": []}
    for part in parts[1:]:
        inline[part.kind].append(safe[part.kind](read(part.value)))
    policy = strict_policy(parts[0].value, inline["script"], inline["style"])
    contents = {kind: iter(texts) for kind, texts in inline.items()}
    pieces, done = [], 0
    for part in parts:
        pieces.append(text[done : part.start])
        if part.kind == "policy":
            # The hashes need no escaping, and quotes of one kind alone stand in a policy.
            quoted = escape(policy, quote=False)
            pieces.append(f'<meta http-equiv="Content-Security-Policy" content="{quoted}">')
        else:
            pieces.append(f"<{part.kind}>{next(contents[part.kind])}</{part.kind}>")
        done = part.end
    return "".join([*pieces, text[done:]])
