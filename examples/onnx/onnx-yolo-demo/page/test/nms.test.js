import assert from "node:assert/strict";
import { test } from "node:test";
import { fit } from "../src/worker/letterbox.js";
import { createPostprocess } from "../src/worker/nms.js";
import { floatsOf, skip, vectors } from "./vectors.js";

const SAME = fit(320, 320, 320); // a picture of the network's own size

/** Detections in boxes of [x, y, width, height, score of each class]. */
function detect(boxes, options) {
  const rows = boxes[0].map((_, row) => boxes.map((box) => box[row]));
  const post = createPostprocess(rows.length - 4, boxes.length);
  return post.run(Float32Array.from(rows.flat()), SAME, options);
}

test("thresholds are strict, and are rounded as the scores are", () => {
  // Two boxes of area 100 that share 50: the overlap is exactly 1/3, also in 32 bits.
  const boxes = [
    [10, 10, 10, 10, 0.5],
    [15, 10, 10, 10, 0.4],
  ];
  const third = Math.fround(50 / 150);
  assert.equal(detect(boxes, { confidence: [0.3], iou: third }).length, 2);
  assert.equal(detect(boxes, { confidence: [0.3], iou: third - 1e-7 }).length, 1);
  assert.equal(detect(boxes, { confidence: [0.5], iou: 0.5 }).length, 0);
  assert.equal(detect(boxes, { confidence: [0.4], iou: 0.5 }).length, 1);
});

test("classes do not suppress one another, and are filtered by their numbers", () => {
  const boxes = [
    [50, 50, 20, 20, 0.9, 0],
    [50, 50, 20, 20, 0, 0.8],
  ];
  const options = { confidence: [0.25, 0.25], iou: 0.5 };
  assert.equal(detect(boxes, options).length, 2);
  assert.deepEqual(
    detect(boxes, { ...options, enabled: [1] }).map(({ classId }) => classId),
    [1],
  );
  assert.deepEqual(detect(boxes, { ...options, enabled: [] }), []);
});

test("an output that is not finite, or of another size, is refused", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) {
    const boxes = [[50, value, 20, 20, 0.9]];
    assert.throws(() => detect(boxes, { confidence: [0.5], iou: 0.5 }), {
      code: "model-refused",
      message: /NaN or infinity/,
    });
  }
  const post = createPostprocess(2, 10);
  assert.throws(() => post.run(new Float32Array(50), SAME, { confidence: [0.5, 0.5], iou: 0.5 }), {
    message: "the model gave 50 numbers; needed: 6 x 10",
  });
});

test("detections are Python's to the last bit", { skip }, () => {
  for (const { output, classes, geometry, options, expected } of vectors.nms) {
    const numbers = floatsOf(output);
    const anchors = numbers.length / (4 + classes);
    const post = createPostprocess(classes, anchors);
    const others = { confidence: options.confidence.map(() => 0.1), iou: 0.7 };
    post.run(numbers.slice().reverse(), geometry, others); // leaves traces
    const found = post
      .run(numbers, geometry, options)
      .map(({ x1, y1, x2, y2, score, classId }) => [x1, y1, x2, y2, score, classId]);
    assert.deepEqual(found, expected);
  }
});
