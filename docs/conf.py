"""How Sphinx makes the site; `bash .ci/docs` runs it.

The source folder is the repository itself, so that the links between the texts, and from them to
code, work on the site as they do in the repository; the first page is the README.
"""

import tomllib
from pathlib import Path

project = "pytensor-vision"
author = "the authors of pytensor-vision"
copyright = f"{author}; BSD-3-Clause"
root = Path(__file__).parents[1]
metadata = tomllib.loads((root / "pyproject.toml").read_text())["project"]
release = version = metadata["version"]

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
]
root_doc = "README"
include_patterns = [
    "*.md", "docs/**", "examples/**/*.md", "thoughts/*.md", "thoughts/**/*.md", "benchmarks/*.md",
]  # fmt: skip
exclude_patterns = ["**/node_modules", "**/.*", "build", "docs/contents.md", "docs/templates"]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "dollarmath"]
# The tutorials run while the site is built: a cell that fails, fails the build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(root / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True

autodoc_typehints = "none"  # the docstrings have types and shapes
templates_path = [str(root / "docs" / "templates")]  # autosummary would look beside the README
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = False
numpydoc_xref_param_type = tags.has("online")  # noqa: F821, Sphinx's
numpydoc_xref_ignore = "all"  # but for these, and those that numpydoc knows
numpydoc_xref_aliases = {
    "Apply": "pytensor.graph.basic.Apply",
    "Mode": "pytensor.compile.mode.Mode",
    "SharedVariable": "pytensor.compile.sharedvalue.SharedVariable",
    "TensorVariable": "pytensor.tensor.TensorVariable",
    "bool": ":class:`python:bool`",
    "scalar": "scalar",  # not NumPy's
}
linkcheck_ignore = [
    r"http://127\.0\.0\.1[:/]",  # what a reader starts
    r"https://doi\.org/10\.1145/",  # a publisher that refuses programs
]

# `bash .ci/docs --online`, for their inventories lie on their sites.
intersphinx_mapping = {
    name: (url, None)
    for name, url in {
        "jax": "https://docs.jax.dev/en/latest/",
        "numpy": "https://numpy.org/doc/stable/",
        "python": "https://docs.python.org/3/",
        "pytensor": "https://pytensor.readthedocs.io/en/latest/",
    }.items()
    if tags.has("online")  # noqa: F821, Sphinx's
}

# A release that doesn't change; its hash is that of the package's file.
mathjax_path = "https://cdn.jsdelivr.net/npm/mathjax@4.1.3/tex-mml-chtml.js"
mathjax_options = {
    "integrity": "sha384-OrHfGTnIbkl0do3N76qW/uWr38o91N05sbSPuYBPLH+hG8X/dNSrjZf3AGjzrCwC",
    "crossorigin": "anonymous",
}

html_theme = "pydata_sphinx_theme"
html_title = project
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        # wide tables take its place
        "docs/backends": [],
        "docs/migration": [],
        "docs/onnx_support": [],
        "docs/what_the_gpu_runs": [],
    },
}
html_context = {"default_mode": "auto"}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/icon.svg"
html_sidebars = {"README": [], "CONTRIBUTING": []}
html_copy_source = html_show_sourcelink = False


def setup(app):
    """Give pages the repository's address, and the README the site's table of contents."""

    def fill_in(app, name, source):
        source[0] = source[0].replace("clone REPOSITORY", f"clone {metadata['urls']['Repository']}")
        if name == root_doc:
            source[0] += (root / "docs" / "contents.md").read_text()

    app.connect("source-read", fill_in)
