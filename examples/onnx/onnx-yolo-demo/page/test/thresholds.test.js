import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../src/page/thresholds.js";

test("at the slider's first place the thresholds are the model's, to the last digit", () => {
  const own = [0.1234567, 1 / 3, 0, 1];
  assert.deepEqual(moved(own, 0.12, 0.12), own);
});

test("one threshold for all classes is the slider's number", () => {
  for (let to = 1; to < 100; to++) {
    assert.deepEqual(moved([0.25, 0.25], 0.25, to / 100), [to / 100, to / 100]);
  }
});

test("different ones keep their order, and stay between 0 and 1", () => {
  const own = [0.2, 0.5, 0, 1];
  assert.deepEqual(moved(own, 0.2, 0.5), [0.5, 0.8, 0, 1]); // odds of 1 to 4, and 1 to 1, times 4
  assert.deepEqual(moved(own, 0.2, 0.01), [0.01, 0.038835, 0, 1]);
});
