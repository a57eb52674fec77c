"""Things in films are followed by the rules of the page."""

import json

import numpy as np
import pytest
from evaluation.tracking import LOST_AFTER, Tracker
from tools.build_demo import DEMO

LIMITS = [0.4, 0.4]
SCENES = json.loads((DEMO / "page/test/tracks.json").read_text())["scenes"]


def row(x, y=10, label=0, score=0.9):
    return [x, y, x + 20, y + 20, score, label]


def numbers_of(frames, seconds=0.25):
    """Return the numbers of what is drawn in each frame, from left to right."""
    tracker, found = Tracker(LIMITS), []
    for rows in frames:
        drawn, numbers = tracker.update(rows, seconds)
        found.append([numbers[k] for k in np.argsort(drawn[:, 0])])
    return found


@pytest.mark.parametrize("scene", SCENES, ids=[scene["title"] for scene in SCENES])
def test_the_rules_are_those_of_the_page(scene):
    tracker = Tracker(scene["thresholds"])
    for frame in scene["frames"]:
        if frame.get("jump"):
            tracker.jump()
        drawn, numbers = tracker.update(frame["found"], frame["seconds"])
        expected = np.reshape(np.array(frame["drawn"], float), (-1, 7))
        np.testing.assert_allclose(drawn, expected[:, :6], rtol=0, atol=0.006)
        assert numbers == expected[:, 6].tolist()


def test_classes_have_their_own_numbers():
    assert numbers_of([[row(0), row(2, label=1)]] * 3)[2] == [1, 1]


def test_a_thing_that_was_away_is_known_again_unless_it_was_long():
    known = [[row(0)]] * 3
    assert numbers_of([*known, *[[]] * (LOST_AFTER - 1), *known])[-1] == [1]
    assert numbers_of([*known, *[[]] * LOST_AFTER, *known])[-1] == [2]
