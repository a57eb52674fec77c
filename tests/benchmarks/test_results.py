"""The table of figures: how it is written, and that the one of the repository is whole."""

import sys
from types import SimpleNamespace

import pytest

from benchmarks.common import results
from benchmarks.common.results import read, record, rows_of

FACTS = {"processor": "AMD", "cores": 2, "load_average": 1.0, "python": "3.13.0", "jax": "0.12"}


@pytest.fixture(autouse=True)
def command(monkeypatch):
    """Set what this process was started as."""

    def run(*words):
        main = SimpleNamespace(__spec__=SimpleNamespace(name="benchmarks.one"))
        monkeypatch.setitem(sys.modules, "__main__", main)
        monkeypatch.setattr(sys, "argv", ["one.py", *words])

    run()
    return run


def test_rows_of_a_tree():
    figures = {
        "batch 8": {"seconds": [1.0, 2.0, 4.0], "bytes": 123456789, "peak": None},
        "ms": {"median": 0.123456, "min": 0.1, "max": 1.0},
        "frame": {"median": 5.0, "p90": 9.0},
        "mAP": {"mean": 0.5, "sd": 0.1},
        "difference": {"mean": -0.5, "low": None, "high": None, "seeds": 1},
        "different": "nothing",
    }
    assert list(rows_of(figures)) == [
        ("batch 8 > seconds", "2", "1", "4"),
        ("batch 8 > bytes", "123456789", "", ""),
        ("ms", "0.12346", "0.1", "1"),
        ("frame", "5", "", "9"),
        ("mAP > mean", "0.5", "", ""),
        ("mAP > sd", "0.1", "", ""),
        ("difference", "-0.5", "", ""),
        ("different", "nothing", "", ""),
    ]


def test_a_later_run_replaces_its_rows(tmp_path, command):
    path = tmp_path / "table.csv"
    for words, value in ((("--size", "8"), 1), ((), 2), (("--size", "8", "--record"), 3)):
        command(*words)
        record(path, {"figure": value}, FACTS)
    first, second = read(path)
    assert (first["value"], first["command"]) == ("2", "python -m benchmarks.one")
    assert (second["value"], second["command"]) == ("3", "python -m benchmarks.one --size 8")
    assert second["machine"] == "AMD, 2 cores"
    assert second["versions"] == "python 3.13.0, jax 0.12"
    assert second["commit"] == results.commit()
    # The command is without what writes it.
    for words in (["--record", "t.csv", "-n", "1"], ["-n", "1", "--json", "x", "--record"]):
        command(*words)
        assert results.command() == "python -m benchmarks.one -n 1"
    record(path, {"figure": 4}, FACTS | {"device_kind": "a GPU"})
    assert [row["machine"] for row in read(path)] == [*["AMD, 2 cores"] * 2, "AMD, 2 cores, a GPU"]


def test_the_table_of_the_repository_is_whole():
    rows = read()
    assert len(rows) > 300
    for row in rows:
        assert [*row] == [*results.COLUMNS]
        assert all(row[name] for name in ("figure", "value", "machine", "commit", "command")), row
        assert row["command"].startswith("python -m ")
        if row["low"]:
            assert float(row["low"]) <= float(row["value"]) <= float(row["high"]), row
    keys = {tuple(row[name] for name in results.SAME) for row in rows}
    assert len(keys) == len(rows)
