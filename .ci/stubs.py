"""Makes the type stubs that a wheel has in `pytensor-stubs`, where checkers look for them.

hatchling runs this when it builds a wheel (pyproject.toml). Python finds our modules through the
graft, of which checkers know nothing. A stub names a module's place in the wheel, so that an editor
leads to its source; what has none is PyTensor's own, for they are partial (PEP 561).
"""

import ast
import shutil
import sys
import tempfile
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# A newer PyTensor may have names that our stub of a package of its own doesn't know.
UNKNOWN = "\ndef __getattr__(name: str) -> Any: ...\n"


def names_in(path):
    """Return the names that a module defines at its top, and those in its `__all__`."""
    names = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names[node.name] = None
        elif isinstance(node, ast.TypeAlias):
            names[node.name.id] = None
        elif isinstance(node, ast.ImportFrom):  # `import x as x` exports a name
            names |= {alias.name: None for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
            names |= dict.fromkeys(found)
            if found == ["__all__"]:
                names |= dict.fromkeys(ast.literal_eval(node.value))
    return sorted(name for name in names if not name.startswith("__"))


def stub_of(path, module):
    """Return the text of the stub of one module of ours."""
    given = path.with_suffix(".pyi")
    if not path.exists():
        return given.read_text(encoding="utf-8") + UNKNOWN
    source = given if given.exists() else path
    names = "".join(f"    {name} as {name},\n" for name in names_in(source))
    return f"from pytensor_vision.{module} import (\n{names})\n" if names else ""


def write_stubs(root, folder):
    """Write the stubs of the modules below `root`/pytensor into a folder."""
    found = [path for kind in ("*.py", "*.pyi") for path in (root / "pytensor").rglob(kind)]
    for path in sorted({path.with_suffix(".py") for path in found if path.stem != "__extend__"}):
        module = path.relative_to(root).with_suffix("")
        target = folder / module.relative_to("pytensor").with_suffix(".pyi")
        target.parent.mkdir(parents=True, exist_ok=True)
        name = ".".join(module.parts).removesuffix(".__init__")
        target.write_text(stub_of(path, name), encoding="utf-8")
    (folder / "py.typed").write_text("partial\n")


class StubsHook(BuildHookInterface):
    """hatchling's form of it; an editable installation has the sources, and no stubs."""

    _folder = None

    def initialize(self, version, build_data):
        """Add the stubs to a wheel."""
        # An older Python can't read our modules; pip says which one it wants after the build.
        if version != "editable" and sys.version_info >= (3, 12):
            # Each build has its own folder, for two may run at once.
            self._folder = tempfile.mkdtemp()
            write_stubs(Path(self.root), Path(self._folder))
            build_data["force_include"][self._folder] = "pytensor-stubs"

    def finalize(self, version, build_data, artifact_path):
        """Remove the stubs' folder."""
        if self._folder is not None:
            shutil.rmtree(self._folder)
