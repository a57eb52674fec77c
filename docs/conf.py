"""Configure Sphinx, which `bash .ci/docs` runs.

The source folder is the repository itself, so links between the pages, and from them to code, work
on the site and in the repository. The first page is docs/index.md.
"""

import tomllib
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

root = Path(__file__).parents[1]
metadata = tomllib.loads((root / "pyproject.toml").read_text())["project"]
project = metadata["name"]
release = version = metadata["version"]
author = metadata["authors"][0]["name"]
copyright = f"{author}; BSD-3-Clause"
repository = metadata["urls"]["Repository"]
*_, owner, repository_name = repository.split("/")

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
]
root_doc = "docs/index"
include_patterns = [
    "*.md", "docs/**", "examples/**/*.md", "thoughts/*.md", "thoughts/**/*.md", "benchmarks/*.md",
]  # fmt: skip
exclude_patterns = ["**/node_modules", "**/.*", "build", "docs/templates"]

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "dollarmath"]
# The tutorials run while the site is built: a cell that fails, fails the build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(root / "build" / "notebooks")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_in_temp = True
nb_merge_streams = True

toc_object_entries = False  # otherwise menus have each name twice
autodoc_typehints = "none"  # the docstrings have types and shapes
templates_path = [str(root / "docs" / "templates")]  # autosummary looks in the source folder
numpydoc_class_members_toctree = False
numpydoc_show_inherited_class_members = False
numpydoc_xref_param_type = tags.has("online")  # noqa: F821, Sphinx's
numpydoc_xref_ignore = "all"  # except these and the ones that numpydoc knows
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

# Only with `bash .ci/docs --online`, which downloads their inventories.
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

html_theme = "pydata_sphinx_theme"
html_title = project
html_theme_options = {
    "navigation_with_keys": False,
    "use_edit_page_button": True,
    "article_footer_items": ["edit-this-page"],
    "icon_links": [{"name": "Repository", "url": repository, "icon": "fa-brands fa-github"}],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": {
        "**": ["page-toc"],
        # These have wide tables.
        "docs/index": [],
        "docs/backends": [],
        "docs/migration": [],
        "docs/modes": [],
        "docs/onnx_support": [],
        "docs/speed_in_detail": [],
    },
}
html_context = {
    "default_mode": "auto",
    "github_user": owner,
    "github_repo": repository_name,
    "github_version": "main",
    "doc_path": "",
}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = [("copy.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_favicon = "static/icon.svg"
html_sidebars = {
    "README": [],
    "docs/index": [],
    "docs/installation": [],
    "docs/troubleshooting": [],
}
html_copy_source = html_show_sourcelink = False


def fill_in(app, name, source):
    """Give pages the repository's address."""
    source[0] = source[0].replace("clone REPOSITORY", f"clone {repository}")


def keep_words_whole(app, document):
    """Mark code whose words fit a phone's line, so that none breaks after a hyphen."""
    for literal in document.findall(nodes.literal):
        if all(len(word) <= 28 for word in literal.astext().split()):
            literal["classes"].append("short")


def describe(app, name, template, context, document):
    """Give search engines a page's first paragraph."""
    paragraph = document and next(document.findall(nodes.paragraph), None)
    if paragraph:
        text = " ".join(paragraph.astext().split()).replace('"', "&quot;")
        context["metatags"] += f'<meta name="description" content="{text[:300]}" />'


def write_inline(writer, node):
    """Write a formula as MathML, which browsers show without a script."""
    writer.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def write_block(writer, node):
    """Write a displayed formula as MathML."""
    writer.body.append(f"<p>{tex2mathml(node.astext(), as_block=True)}</p>")
    raise nodes.SkipNode


def setup(app):
    """Register what changes sources and pages."""
    app.connect("source-read", fill_in)
    app.connect("doctree-read", keep_words_whole)
    app.connect("html-page-context", describe)
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
