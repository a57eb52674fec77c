"""Gives the package README with whole addresses: on an index's page no file is next to it.

hatchling runs this when it reads the metadata (pyproject.toml). A link leads to the tag of the
release, in the repository that [project.urls] names, and a picture comes from there.  A Python that
is too old ends here.
"""

import platform
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface
from packaging.specifiers import SpecifierSet

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
        # Not left to pip: before release 24 it looks for PyTensor first, and names only versions.
        needed, found = metadata["requires-python"], platform.python_version()
        if not SpecifierSet(needed).contains(found, prereleases=True):
            raise SystemExit(f"{metadata['name']} needs Python {needed}; this is Python {found}")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        text = with_whole_links(text, metadata["urls"]["Repository"], metadata["version"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
