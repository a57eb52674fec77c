"""How runs that were killed are compared with a whole one."""

import numpy as np
import pytest

pytest.importorskip("safetensors")

from training.checkpoint import Progress, save_weights


@pytest.fixture(scope="module")
def resume():
    from benchmarks.training import resume

    return resume


def write_run(folder, seconds, weight=1.0, loss="0.5", best=0.25):
    """Write the files of a run: what is compared, and times, which are not."""
    folder.mkdir()
    rows = [{"epoch": 1, "seconds": seconds, "images_per_s": 1 / seconds, "waited_share": 0.0}]
    progress = vars(Progress(rows=rows, seconds=seconds, best=best))
    arrays = {"w": np.array([weight, -0.0], "float32")}
    save_weights(folder / "last.safetensors", arrays, {"progress": progress})
    save_weights(folder / "best.safetensors", arrays, {"epoch": 1})
    (folder / "results.csv").write_text(f"epoch,seconds\n1,{seconds}\n")
    (folder / "steps.csv").write_text(f"step,loss\n1,{loss}\n")
    return folder


@pytest.mark.parametrize(
    ("change", "different"),
    [
        ({}, []),
        ({"weight": np.nextafter(np.float32(1), np.float32(2))}, ["last", "best"]),
        ({"loss": "0.25"}, ["steps.csv"]),
        ({"best": 0.5}, ["last's facts"]),
    ],
)
def test_only_times_may_differ(resume, tmp_path, change, different):
    one = write_run(tmp_path / "one", 1.0)
    other = write_run(tmp_path / "other", 2.0, **change)
    assert resume.differences(one, other) == different


def test_zeros_of_other_signs_and_files_left_behind_are_told(resume, tmp_path):
    one, other = (write_run(tmp_path / name, 1.0) for name in ("one", "other"))
    save_weights(other / "best.safetensors", {"w": np.array([1, 0], "float32")}, {"epoch": 1})
    (other / ".last.safetensors.12").touch()
    assert resume.differences(one, other) == ["best", "left behind: .last.safetensors.12"]
