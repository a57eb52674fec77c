import assert from "node:assert/strict";
import { test } from "node:test";
import { DeviceCheck, EVERY } from "../src/worker/check.js";

const wanted = Float32Array.of(10, 20, 5, 6, 0.5, 30, 40, 7, 8, 0.25);
const limits = { box: 0.001, score: 0.00001, logit: 0.0001 };
const logits = Float32Array.of(-14, -1);
const all = [wanted, logits];
const given = { input: new Float32Array(3), wanted: all, limits, by: "Python", width: 5 };
const create = () => new DeviceCheck({ ...given, layout: "columns" });

/** The outputs, with something added to one of them. */
function changed(place, by) {
  const found = wanted.slice();
  found[place] += by;
  return found;
}

test("a check is due every 500 frames", () => {
  const check = create();
  const due = Array.from({ length: 1600 }, (_, k) => (check.isDue() ? k + 1 : 0)).filter(Boolean);
  assert.equal(EVERY, 500);
  assert.deepEqual(due, [500, 1000, 1500]);
});

test("the largest difference is kept, and how often it was checked", () => {
  const check = create();
  for (const by of [0, 0.0005, 0.0001]) check.judge([changed(0, by), logits]);
  const { difference, times, by } = check.checked;
  assert.ok(Math.abs(difference.box - 0.0005) < 1e-6);
  assert.deepEqual([difference.score, times, by], [0, 3, "Python"]);
});

test("what differs by more than the limits is wrong, and is said with the difference", () => {
  for (const found of [
    changed(1, 0.0011),
    changed(9, 0.00002),
    wanted.map((value) => 1.2 * value),
    new Float32Array(wanted.length),
    wanted.map(() => Number.NaN),
    wanted.subarray(0, 5),
  ]) {
    const check = create();
    assert.throws(
      () => check.judge([found, logits]),
      /not those of Python: they differ by .* in score/,
    );
    assert.equal(check.checked.times, 0);
  }
});

test("logits tell what is wrong where a score is next to nothing", () => {
  for (const other of [logits.map((value) => 1.01 * value), Float32Array.of(-14, Number.NaN)]) {
    assert.throws(
      () => create().judge([wanted, other]),
      /0 in score, (0.14|NaN) before its sigmoid/,
    );
  }
  const without = new DeviceCheck({ ...given, wanted: [wanted], layout: "columns" });
  without.judge([wanted]);
  assert.deepEqual(without.checked.difference, { box: 0, score: 0 });
});
