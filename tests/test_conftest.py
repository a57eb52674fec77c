"""What the tests share: combinations in turn, the order of files, what skipped tests lack."""

import ast
import os
import sys
from types import SimpleNamespace

import pytest

from tests.longest_files import longest_files, one_browser_at_a_time
from tests.skipped import kind_of
from tests.utils import in_turn
from tests.weekly import seconds_of_cases, weekly_cases


def test_no_process_compiles_all_modules_anew():
    """Whatever the environment asks for: see `tests/conftest.py`."""
    assert not sys.dont_write_bytecode
    assert not os.environ.get("PYTHONDONTWRITEBYTECODE")


def test_combinations_in_turn():
    """Without the long ones, each value still meets all values of the other axes."""
    axes = ["a", "b", "c"], [1, 2, 3], [True, False]
    combinations = in_turn("letter, number, flag", *axes).args[1]
    assert len(combinations) == 18
    kept = [c.values for c in combinations if not c.marks]
    assert len(kept) == 9
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        pairs = {(values[first], values[second]) for values in kept}
        assert len(pairs) == len(axes[first]) * len(axes[second])


def unnamed_modes(source):
    """Return the lines of calls that compile a function for the default mode."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and not {"mode", None} & {k.arg for k in node.keywords}:
            called = ast.unparse(node.func)
            if called == "pytensor.function" or called.endswith(".eval"):
                lines.append(node.lineno)
    return lines


# Of the default mode itself, or of calls that name none; PyTorch's networks have an `eval`, too
UNNAMED = {"link/onnx/test_export.py", "link/onnx/test_linker.py"}
UNNAMED |= {"link/onnx/importing/make_networks.py"}


@pytest.mark.slow
def test_functions_name_their_mode(request):
    """The default one, NUMBA, takes seconds for what Python computes at once."""
    assert unnamed_modes("y.eval({x: 1})\npytensor.function([x], y)\nf(x)") == [1, 2]
    assert unnamed_modes("y.eval(mode=PY)\npytensor.function([x], y, **how)") == []
    tests = request.path.parent
    found = [
        f"{path.relative_to(tests)}:{line}"
        for path in tests.rglob("*.py")
        if str(path.relative_to(tests)) not in UNNAMED
        for line in unnamed_modes(path.read_text())
    ]
    assert found == []


def test_the_longest_files_are_there(request):
    tests = request.path.parent
    listed = (tests / "longest_files.txt").read_text().split()
    assert len(listed) == len({*listed})
    assert [name for name in listed if not (tests / name).exists()] == []


def test_files_are_listed_by_the_time_they_took(tmp_path):
    cases = [("tests.test_docs", 2), ("tests.link.jax.mode.test_donation.TestUpdates", 3)]
    cases += [("tests.test_docs", 2), ("tests.link.jax.mode.test_donation", 0.5)]
    rows = [f'<testcase classname="{name}" time="{seconds}"/>' for name, seconds in cases]
    (tmp_path / "tests.xml").write_text(f"<testsuites>{''.join(rows)}</testsuites>")
    expected = ["test_docs.py", "link/jax/mode/test_donation.py"]
    assert longest_files(tmp_path / "tests.xml") == expected


def test_files_with_a_browser_take_turns():
    seconds = {"page/a.py": 9, "page/b.py": 8, "c.py": 7, "d.py": 6, "e.py": 5, "page/f.py": 1}
    seconds = {f"examples/{name}": time for name, time in seconds.items()}
    order = [name.removeprefix("examples/") for name in one_browser_at_a_time(seconds)]
    assert order == ["page/a.py", "c.py", "d.py", "e.py", "page/b.py", "page/f.py"]


def test_the_weekly_cases_are_of_tests_that_are_there(request):
    tests = request.path.parent
    listed = (tests / "weekly_cases.txt").read_text().splitlines()
    assert len(listed) == len({*listed})
    for case in listed:
        path, _, name = case.partition("[")[0].partition("::")
        assert f"def {name.rpartition('::')[2]}(" in (tests.parent / path).read_text(), case


def test_cases_that_execute_nothing_of_their_own_are_left_to_the_weekly_run():
    seconds = {"t.py::a[0]": 9, "t.py::a[1]": 5, "t.py::a[2]": 4, "t.py::a[3]": 0.1}
    seconds |= {"t.py::b[0]": 3, "t.py::b[1]": 2, "t.py::c": 8, "t.py::d[0]": 1, "t.py::d[1]": 1}
    seconds |= {"t.py::e[0]": 7, "t.py::e[1]": 7}
    lines = {"t.py::a[0]": {1, 2}, "t.py::a[1]": {2}, "t.py::a[2]": {3}, "t.py::a[3]": {1}}
    lines |= {"t.py::b[0]": {9}, "t.py::b[1]": {9}, "t.py::c": {9}, "t.py::d[0]": {7, 8}}
    lines |= {"t.py::d[1]": {7}, "t.py::e[0]": set(), "t.py::e[1]": set()}
    # a[0] has a relative for each line, a[1] then has line 2 alone, 3 is a[2]'s; 9 is executed
    # outside of the tests, too, but one case stays; c has no other; of e nothing is known.
    expected = ["t.py::a[0]", "t.py::b[0]", "t.py::d[1]"]
    assert weekly_cases(seconds, lines, always={9}) == expected


def test_the_times_of_cases_have_the_names_that_pytest_gives_them(tmp_path):
    rows = (
        '<testcase classname="tests.test_docs" name="test_a[x.y]" time="2"/>'
        '<testcase classname="tests.link.jax.mode.test_donation.TestUpdates" name="b" time="3"/>'
    )
    (tmp_path / "tests.xml").write_text(f"<testsuites>{rows}</testsuites>")
    donation = "tests/link/jax/mode/test_donation.py::TestUpdates::b"
    expected = {"tests/test_docs.py::test_a[x.y]": 2, donation: 3}
    assert seconds_of_cases(tmp_path / "tests.xml") == expected


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        ("could not import 'torch': No module named 'torch'", "need PyTorch"),
        ("could not import 'bambi': No module named 'bambi'", "need bambi"),
        ("bambi isn't installed", "need bambi"),
        ("there is no g++", "need g++"),
        ("the C library is not glibc", "because the C library is not glibc"),
    ],
)
def test_what_skipped_tests_lack(reason, kind):
    report = SimpleNamespace(longrepr=("file.py", 1, f"Skipped: {reason}"))
    assert kind_of(report) == kind
