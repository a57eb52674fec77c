import assert from "node:assert/strict";
import { test } from "node:test";
import { fit } from "../src/worker/letterbox.js";
import { createPostprocess } from "../src/worker/nms.js";
import { readShape, requireScores } from "../src/worker/outputs.js";

const TWO = ["a", "b"];
const COCO = Array.from({ length: 80 }, (_, k) => `thing ${k}`);
const GRID = 2100; // boxes of the grids of 320 pixels

/** What a shape is read as. */
const layoutOf = (dims, names) => readShape(dims, names, 320).layout;

test("names in the file decide what a shape means", () => {
  assert.equal(layoutOf([1, 84, GRID], COCO), "rows");
  assert.equal(layoutOf([1, GRID, 84], COCO), "columns");
  assert.equal(layoutOf([1, 300, 6], COCO), "finished");
  assert.equal(layoutOf([1, 6, GRID], TWO), "rows");
  // More rows than boxes: without names this would lie the other way round.
  assert.equal(layoutOf([1, 84, 20], COCO), "rows");
});

test("six columns of two classes are finished boxes, unless there is one for every cell", () => {
  assert.equal(layoutOf([1, 300, 6], TWO), "finished");
  assert.equal(layoutOf([1, GRID, 6], TWO), "columns");
  assert.equal(layoutOf([1, GRID, 6], null), "columns");
});

test("without names the longer side is that of the boxes", () => {
  const shape = readShape([1, 7, GRID], null, 320);
  assert.deepEqual(shape, {
    layout: "rows",
    boxes: GRID,
    width: 7,
    names: ["class 0", "class 1", "class 2"],
  });
  assert.equal(readShape([1, GRID, 7], null, 320).layout, "columns");
  assert.equal(readShape([1, GRID, 7], null, 320).names.length, 3);
});

test("what does not fit is refused, with what would", () => {
  const refused = (dims, names, message) =>
    assert.throws(() => readShape(dims, names, 320), { code: "model-shape", message });
  refused([1, 85, GRID], COCO, /\(1, 85, 2100\); needed: \(1, 84, boxes\) or \(1, boxes, 84\) for/);
  refused([2, 84, GRID], COCO, /needed/);
  refused([300, 7], COCO, /\(300, 7\); needed/);
  refused([1, 0, 7], COCO, /needed/);
  refused([1, 6, 80, 80], TWO, /\(1, 6, 80, 80\); needed/);
  refused([1, 3, 80, 80, 85], null, /needed: \(1, 4 \+ classes, boxes\)/);
  refused([1, 300, 6], null, /does not name them; needed: metadata "names"/);
});

test("three boxes for every cell have an objectness, as have single ones with a number too many", () => {
  const [cells, side] = [8400, 640];
  const read = (dims, names, masks) => {
    const { layout, names: read } = readShape(dims, names, side, masks);
    return [layout, read.length];
  };
  assert.deepEqual(read([1, 3 * cells, 6], ["face"]), ["objectness", 1]); // YOLOv5, v7
  assert.deepEqual(read([1, 3 * cells, 6], TWO), ["columns", 2]);
  assert.deepEqual(read([1, 3 * cells, 85], COCO), ["objectness", 80]);
  assert.deepEqual(read([1, 3 * cells, 85], null), ["objectness", 80]);
  assert.deepEqual(read([1, cells, 85], COCO), ["objectness", 80]); // YOLOX
  assert.deepEqual(read([1, cells, 84], null), ["columns", 80]);
  assert.deepEqual(read([1, 300, 6], ["face"]), ["finished", 1]);
  const message = /has 81 classes, or 80 and an objectness.*needed: metadata "names"/;
  assert.throws(() => read([1, cells, 85], null), { code: "model-shape", message });
});

test("numbers of masks behind the scores are no classes", () => {
  const read = (dims, names) => {
    const { layout, width, names: read } = readShape(dims, names, 640, 32);
    return [layout, width, read.length];
  };
  assert.deepEqual(read([1, 116, 8400], COCO), ["rows", 116, 80]);
  assert.deepEqual(read([1, 116, 8400], null), ["rows", 116, 80]);
  assert.deepEqual(read([1, 8400, 116], COCO), ["columns", 116, 80]);
  assert.deepEqual(read([1, 25200, 117], COCO), ["objectness", 117, 80]);
  // Without their maps, nothing tells them from classes but their values.
  assert.throws(() => readShape([1, 116, 8400], COCO, 640), { code: "model-shape" });
  const shape = readShape([1, 7, GRID], null, 320);
  const scores = new Float32Array(7 * GRID).fill(1.004);
  requireScores(scores.fill(99, 0, 4 * GRID), shape);
  scores[7 * GRID - 1] = -0.5;
  const message = /no score from 0 to 1 \(-0.500\): it may hold masks or points/;
  assert.throws(() => requireScores(scores, shape), { code: "model-shape", message });
});

test("finished boxes may have no batch, and another number in every picture", () => {
  assert.equal(layoutOf([300, 6], COCO), "finished");
  assert.equal(layoutOf([0, 6], TWO), "finished");
  assert.equal(layoutOf([1, 0, 6], COCO), "finished");
  assert.throws(() => layoutOf([0, 6], null), { message: /does not name them/ });
  const { run } = createPostprocess(2, 0, "finished");
  const box = [10, 45, 30, 55, 0.5, 1];
  for (const count of [0, 3, 1, 0]) {
    const output = Float32Array.from(Array(count).fill(box).flat());
    assert.equal(run(output, WIDE, OPTIONS).length, count);
  }
  assert.throws(() => run(new Float32Array(7), WIDE, OPTIONS), { message: /gave 7 numbers/ });
});

// Of a picture of 200 x 100 in a square of 100: half its size, 25 pixels from the top.
const WIDE = fit(200, 100, 100);
const BOXES = [
  [20, 50, 20, 10, 0.9, 0.1],
  [60, 50, 20, 10, 0.2, 0.7],
  [61, 50, 20, 10, 0.1, 0.6],
];
const OPTIONS = { confidence: [0.25, 0.25], iou: 0.5 };

test("a transposed output gives the same detections", () => {
  const rows = BOXES[0].flatMap((_, row) => BOXES.map((box) => box[row]));
  const straight = createPostprocess(2, 3).run(Float32Array.from(rows), WIDE, OPTIONS);
  const columns = createPostprocess(2, 3, "columns");
  assert.equal(straight.length, 2);
  assert.deepEqual(columns.run(Float32Array.from(BOXES.flat()), WIDE, OPTIONS), straight);
});

test("objectness multiplies the scores, and masks count for nothing", () => {
  const straight = createPostprocess(2, 3, "columns").run(
    Float32Array.from(BOXES.flat()),
    WIDE,
    OPTIONS,
  );
  const masked = BOXES.flatMap((box) => [...box, 7, -7]);
  const withMasks = createPostprocess(2, 3, "columns", 8);
  assert.deepEqual(withMasks.run(Float32Array.from(masked), WIDE, OPTIONS), straight);
  const sure = BOXES.flatMap(([x, y, w, h, ...scores]) => [x, y, w, h, 0.5, ...scores]);
  const found = createPostprocess(2, 3, "objectness").run(Float32Array.from(sure), WIDE, OPTIONS);
  assert.deepEqual(
    found,
    straight.map((one) => ({ ...one, score: one.score / 2 })),
  );
});

test("finished boxes are moved into the picture, sorted and filtered, not suppressed", () => {
  const finished = (...boxes) =>
    createPostprocess(2, boxes.length, "finished").run(Float32Array.from(boxes.flat()), WIDE, {
      ...OPTIONS,
      enabled: [1],
    });
  const found = finished(
    [10, 45, 30, 55, 0.5, 1],
    [10, 45, 30, 55, 0.75, 1],
    [0, 0, 9, 9, 0.9, 0], // a class that is switched off
    [0, 0, 9, 9, 0.1, 1],
    [0, 0, 0, 0, 0, -1], // a place that no box fills
  );
  const box = { x1: 20, y1: 40, x2: 60, y2: 60, classId: 1 };
  assert.deepEqual(found, [
    { ...box, score: 0.75 },
    { ...box, score: 0.5 },
  ]);
  const message = /gives a class 7; its file names 2/;
  assert.throws(() => finished([0, 0, 9, 9, 0.9, 7]), { code: "model-refused", message });
  assert.throws(() => finished([0, 0, 9, 9, 0.9, 0.5]), { code: "model-refused" });
});
