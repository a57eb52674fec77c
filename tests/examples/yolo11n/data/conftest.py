"""A data set in COCO's format and with YOLO's text labels."""

import pytest


@pytest.fixture
def both(builder, seven, tmp_path):
    """Return (folder in COCO's layout, folder with the same as text labels)."""
    builder.annotations[0]["bbox"] = [-3, 5, 30, 30]  # over the edge
    builder.annotations.append({**builder.annotations[1], "id": 99})  # twice
    builder.write_yolo(tmp_path / "yolo")
    return builder.write_coco(tmp_path / "coco"), tmp_path / "yolo"
