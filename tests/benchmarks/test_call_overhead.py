"""The benchmark of calls runs, and its sides do their work."""


import pytest

from benchmarks.common.results import read

pytest.importorskip("jax")


@pytest.mark.slow
def test_call_overhead(run_benchmark, tmp_path):
    table = tmp_path / "table.csv"
    options = "--arrays", "3", "40", "--rounds", "12", "--record", table
    result, printed = run_benchmark("package.call_overhead", *options)
    assert [point["arrays"] for point in result["points"]] == [3, 40]
    for point in result["points"]:
        assert len(point["seconds"]) == 4
        for low, middle, high in point["seconds"].values():
            assert 0 < low <= middle <= high
        seconds = {name: values[1] for name, values in point["seconds"].items()}
        ours, theirs = seconds["mode JAX"], seconds["plain JAX"]
        assert point["ratios"]["mode JAX / plain JAX"] == pytest.approx(ours / theirs)
    rows = read(table)
    assert len(rows) == 2 * (4 + 2)
    assert rows[0]["figure"] == "3 arrays > seconds > plain JAX"
    command = "python -m benchmarks.package.call_overhead --arrays 3 40 --rounds 12"
    assert {row["command"] for row in rows} == {command}
    assert "jax" in rows[0]["versions"]
    assert "ratio jax_mode(donate=True) / plain JAX, donated" in printed
