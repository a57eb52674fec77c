"""The benchmark of PyMC's starts: its command line."""

import pytest

pytest.importorskip("pymc")
pytest.importorskip("jax")


def test_an_unknown_kind_of_start(monkeypatch, capsys):
    from benchmarks.pymc import start

    monkeypatch.setattr("sys.argv", ["start", "--what", "density,nuts"])
    with pytest.raises(SystemExit):
        start.main()
    assert "--what has nuts; there are density, numpyro" in capsys.readouterr().err
