"""How the structure is measured: what is entered and executed is found."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def structure():
    spec = importlib.util.spec_from_file_location("structure", ROOT / ".ci/structure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_files_whose_functions_are_entered_are_seen(structure, tmp_path, monkeypatch):
    monkeypatch.setattr(structure, "ROOT", tmp_path)
    monkeypatch.setattr(structure, "OURS", [tmp_path / "ours"])
    functions = {}
    for name in ("ours/used.py", "ours/unused.py", "others/used.py"):
        exec(compile("def f(): pass", str(tmp_path / name), "exec"), namespace := {})
        functions[name] = namespace["f"]
    for _ in range(2):  # what is not ours is no longer looked at, until the next time
        with structure.Entered() as seen:
            functions["ours/used.py"]()
            functions["others/used.py"]()
            exec(compile("x = 1", str(tmp_path / "ours/body.py"), "exec"))
        functions["ours/unused.py"]()
        assert seen.files == {"ours/used.py"}


def test_what_exceeds_its_bar_is_told(structure):
    found = [("a", 3, 2, "where"), ("b", 3, 3, ""), ("c", 9, None, "")]
    assert [*structure.problems(found)] == ["a: 3, at most 2: where"]


def test_only_the_table_is_replaced(structure):
    page = f"before\n{structure.BEGIN}old\n{structure.END}after\n"
    new = structure.replaced(page, "| new |\n")
    assert new == f"before\n{structure.BEGIN}\n| new |\n\n{structure.END}after\n"
    assert structure.replaced(new, "| new |\n") == new
    with pytest.raises(SystemExit, match="lacks its markers"):
        structure.replaced("before\n", "")


@pytest.mark.slow
def test_an_import_executes_no_more_than_the_page_says(structure):
    code = f"""
import sys
import pytensor
from pathlib import Path
ours = [Path(place) for place in {[*map(str, structure.OURS)]!r}]
files = [getattr(module, "__file__", None) for module in sys.modules.values()]
print(sum(any(Path(f).is_relative_to(place) for place in ours) for f in files if f))
"""
    count = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    said = re.search(r"executes \| (\d+) \| (\d+) \|", structure.PAGE.read_text())
    assert int(count.stdout) <= int(said[1]) <= int(said[2])
