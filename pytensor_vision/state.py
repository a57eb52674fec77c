"""State of the finder and of what extends packages; it imports no other module of ours."""

import os
import sys

REQUIRED = "pytensor>=3.3.5,<3.4"
# What of ours could not be loaded, by its module or package, and why.
failures: dict[str, str] = {}
# The modules of PyTensor that something is added to: known once PyTensor itself is found.  The
# finder leaves the others alone, for PyTensor has hundreds.
extended = {"pytensor"}

# The folder whose `pytensor` has our modules: a wheel's is this package, a checkout's its root.
HOME = os.path.dirname(os.path.abspath(__file__))
if os.path.exists(os.path.join(os.path.dirname(HOME), "pytensor", "tensor", "__extend__.py")):
    HOME = os.path.dirname(HOME)


def explain(part, error):
    """Say that a part of this distribution can't be loaded, why, and what would help."""
    version = getattr(sys.modules.get("pytensor"), "__version__", "of an unknown version")
    return (
        f"what pytensor-vision adds to {part} can't be loaded ({type(error).__name__}: {error}). "
        f"It needs {REQUIRED}, and pytensor {version} is installed: pip install '{REQUIRED}'"
    )
