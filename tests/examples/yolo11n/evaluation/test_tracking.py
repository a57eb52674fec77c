"""Numbers of things in films: by the rules of the page."""

import numpy as np
from evaluation.tracking import LOST_AFTER, SURE_AFTER, Tracker


def row(x, y=10, label=0):
    return [x, y, x + 20, y + 20, 0.9, label]


def numbers_of(tracker, *frames):
    return [tracker.update(np.array(rows, float).reshape(-1, 6)) for rows in frames]


def test_a_thing_gets_its_number_when_it_is_sure():
    tracker = Tracker()
    assert numbers_of(tracker, *[[row(5 * k)] for k in range(4)]) == [[0]] * 2 + [[1]] * 2
    assert tracker.seen == {0: 1}
    assert SURE_AFTER == 3
    # What is missed before that is another thing afterwards.
    assert numbers_of(Tracker(), [row(0)], [], [row(0)], [row(0)], [row(0)])[2:] == [[0], [0], [1]]


def test_things_that_meet_keep_their_numbers():
    frames = [[row(10 * k), row(200 - 10 * k, 14)] for k in range(21)]
    found = numbers_of(Tracker(), *frames)
    assert found[2:] == [[1, 2]] * 19


def test_classes_have_their_own_numbers():
    found = numbers_of(Tracker(), *[[row(0), row(2, label=1)]] * 3)
    assert found[2] == [1, 1]


def test_a_thing_that_was_away_is_known_again_unless_it_was_long():
    tracker = Tracker()
    numbers_of(tracker, *[[row(0)]] * 3)
    assert numbers_of(tracker, *[[]] * (LOST_AFTER - 1), [row(0)])[-1] == [1]
    assert numbers_of(tracker, *[[]] * LOST_AFTER, *[[row(0)]] * 3)[-1] == [2]
    assert tracker.seen == {0: 2}


def test_speed_is_in_time():
    """Where frames were left out, the thing is as much further."""
    tracker = Tracker()
    for k in range(4):
        tracker.update(np.array([row(10 * k)], float), seconds=0.1)
    assert tracker.update(np.array([row(30 + 50)], float), seconds=0.5) == [1]
    assert tracker.update(np.array([row(80)], float), seconds=0.5) == [0]  # 50 too little
