"""Gives the package README with whole addresses: on an index's page no file is next to it.

hatchling runs this when it reads the metadata (pyproject.toml). A link leads to the tag of the
release, in the repository that [project.urls] names, and a picture comes from there.
"""

import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!\w+:|#)([^)\s]+)\)")


def with_whole_links(text, repository, version):
    """Return Markdown whose links to files next to it lead to the tag of a version."""

    def whole(found):
        picture, words, path = found.groups()
        return f"{picture}{words}({repository}/{'raw' if picture else 'blob'}/v{version}/{path})"

    return LINK.sub(whole, text)


class ReadmeHook(MetadataHookInterface):
    """hatchling's form of it."""

    def update(self, metadata):
        """Add the one field that pyproject.toml calls dynamic."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = with_whole_links(text, metadata["urls"]["Repository"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
