"""Tables and pictures of what a detector finds, misses and mistakes."""

import numpy as np
import pytest
from data.images import read_image
from evaluation.curves import write_curves


@pytest.mark.slow
def test_tables_and_pictures_of_a_detector(builder, tmp_path):
    """A person that is found, and one at a low score, which the curves count and the table not."""
    numbers = [builder.add(64, 48, [(1, 4, 4, 20, 24)]) for _ in range(2)]
    rows = [np.array([[4, 4, 24, 28, score, 0]]) for score in (0.9, 0.1)]
    write_curves(tmp_path, builder.dataset(), dict(zip(numbers, rows, strict=True)))
    table = (tmp_path / "confusion_matrix.csv").read_text().splitlines()
    assert table[0] == "labelled,found person,found cell phone,found nothing"
    assert table[1:] == ["person,1,0,1", "cell phone,0,0,0", "nothing,0,0,0"]
    rows = (tmp_path / "curves.csv").read_text().splitlines()
    assert rows[0] == "class,confidence,precision,recall,f1"
    assert {"person,0.05,1,1,1", "person,0.5,1,0.5,0.6667", "cell phone,0.5,nan,nan,nan"} < {*rows}
    for name in ("confusion_matrix", "curves"):
        assert read_image(tmp_path / f"{name}.png").std() > 5
