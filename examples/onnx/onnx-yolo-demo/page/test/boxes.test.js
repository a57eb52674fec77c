import assert from "node:assert/strict";
import test from "node:test";
import { boxAt, boxBetween, dragged, edgesAt } from "../src/teach/boxes.js";

const SIZE = { width: 200, height: 100 };
const BOX = { x1: 20, y1: 30, x2: 60, y2: 90, label: "mug" };
const corners = ({ x1, y1, x2, y2 }) => [x1, y1, x2, y2];

test("a drag in any direction gives the same box, within the picture", () => {
  const [a, b] = [
    [60, 90],
    [20, 30],
  ];
  assert.deepEqual(corners(boxBetween(a, b, SIZE)), [20, 30, 60, 90]);
  assert.deepEqual(corners(boxBetween(b, a, SIZE)), [20, 30, 60, 90]);
  assert.deepEqual(corners(boxBetween([-5, 50], [300, 120], SIZE)), [0, 50, 200, 100]);
});

test("a moved box keeps its size and label, also at the border", () => {
  const whole = { x: 0, y: 0 };
  assert.deepEqual(corners(dragged(BOX, whole, 7, -4, SIZE)), [27, 26, 67, 86]);
  assert.deepEqual(corners(dragged(BOX, whole, 1000, 1000, SIZE)), [160, 40, 200, 100]);
  assert.deepEqual(corners(dragged(BOX, whole, -1000, -1000, SIZE)), [0, 0, 40, 60]);
  assert.equal(dragged(BOX, whole, 1, 1, SIZE).label, "mug");
});

test("an edge moves alone, and stops before the other one and at the border", () => {
  assert.deepEqual(corners(dragged(BOX, { x: -1, y: 0 }, 5, 99, SIZE)), [25, 30, 60, 90]);
  assert.deepEqual(corners(dragged(BOX, { x: -1, y: -1 }, 500, 500, SIZE)), [57, 87, 60, 90]);
  assert.deepEqual(corners(dragged(BOX, { x: 1, y: 1 }, -500, -500, SIZE)), [20, 30, 23, 33]);
  assert.deepEqual(corners(dragged(BOX, { x: 1, y: 0 }, 500, 0, SIZE)), [20, 30, 200, 90]);
});

test("what a place takes: a corner, an edge, the whole, nothing", () => {
  assert.deepEqual(edgesAt(BOX, 18, 31, 8), { x: -1, y: -1 });
  assert.deepEqual(edgesAt(BOX, 63, 60, 8), { x: 1, y: 0 });
  assert.deepEqual(edgesAt(BOX, 40, 95, 8), { x: 0, y: 1 });
  assert.deepEqual(edgesAt(BOX, 40, 60, 8), { x: 0, y: 0 });
  assert.equal(edgesAt(BOX, 69, 60, 8), null);
  const small = { x1: 10, y1: 10, x2: 14, y2: 14 };
  assert.deepEqual(edgesAt(small, 12, 12, 8), { x: 0, y: 0 }, "small ones can be moved");
});

test("of boxes in each other the smallest is meant", () => {
  const inner = { x1: 30, y1: 40, x2: 50, y2: 60, label: "spoon" };
  for (const boxes of [
    [BOX, inner],
    [inner, BOX],
  ]) {
    assert.equal(boxAt(boxes, 40, 50), inner);
    assert.equal(boxAt(boxes, 22, 32), BOX);
    assert.equal(boxAt(boxes, 1, 1), undefined);
  }
});
