import assert from "node:assert/strict";
import { test } from "node:test";
import { inWords, isClose, outputDifference } from "../src/worker/agreement.js";

const floats = (...values) => Float32Array.from(values.flat(2));
// Two boxes of one class: rows of five numbers, of two each.
const ROWS = floats([10, 20], [30, 40], [5, 6], [7, 8], [0.5, 0.25]);
const COLUMNS = floats([10, 30, 5, 7, 0.5], [20, 40, 6, 8, 0.25]);

test("the largest difference of a box and of a score count, in every cell", () => {
  for (const [output, layout, box, score] of [
    [ROWS, "rows", 7, 8],
    [COLUMNS, "columns", 8, 4],
  ]) {
    const other = output.slice();
    assert.deepEqual(outputDifference(output, other, layout, 5), { box: 0, score: 0 });
    other[box] += 0.75;
    other[score] -= 0.125;
    assert.deepEqual(outputDifference(output, other, layout, 5), { box: 0.75, score: 0.125 });
  }
  assert.ok(isClose({ box: 0.5, score: 0.005 }));
  assert.ok(!isClose({ box: 0.51, score: 0 }));
  assert.ok(!isClose({ box: 0, score: 0.0051 }));
});

test("finished boxes are paired, in any order; what scores next to nothing may be anything", () => {
  const [first, second] = [
    [1, 2, 3, 4, 0.75, 0],
    [5, 6, 7, 8, 0.5, 1],
  ];
  const difference = (one, other) => outputDifference(floats(one), floats(other), "finished", 6);
  const empty = [9, 9, 9, 9, 0.01, 0];
  assert.deepEqual(difference([first, second], [second, first, empty]), { box: 0, score: 0 });
  const moved = [1, 2, 3.25, 4, 0.5, 0];
  assert.deepEqual(difference([first, second], [moved, second]), { box: 0.25, score: 0.25 });
  assert.ok(!isClose(difference([first], [first, second])));
  assert.ok(!isClose(difference([first, second], [first])));
});

test("in words", () => {
  assert.equal(inWords({ box: 0.000412, score: 0.0000123 }), "0.00041 px, 0.000012 in score");
  assert.equal(inWords({ box: Number.POSITIVE_INFINITY, score: 0 }), "Infinity px, 0.0 in score");
});
