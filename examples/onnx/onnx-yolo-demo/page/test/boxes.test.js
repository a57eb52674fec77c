import assert from "node:assert/strict";
import test from "node:test";
import { dragged } from "../src/teach/boxes.js";

const SIZE = { width: 200, height: 100 };
const BOX = { x1: 20, y1: 30, x2: 60, y2: 90, label: "mug" };
const corners = ({ x1, y1, x2, y2 }) => [x1, y1, x2, y2];

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
