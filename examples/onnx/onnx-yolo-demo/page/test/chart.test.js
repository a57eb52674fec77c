import assert from "node:assert/strict";
import { test } from "node:test";
import { FrameTimes, topOf } from "../src/page/chart.js";

test("the median of the last frames, the last one's time, and their rate", () => {
  const times = new FrameTimes();
  assert.ok(Number.isNaN(times.last("pre")));
  for (const [k, pre] of [10, 2, 3].entries()) times.push({ pre, inference: 0, post: 0 }, 100 * k);
  assert.equal(times.median("pre"), 3);
  assert.equal(times.last("pre"), 3);
  times.push({ pre: 50, inference: 0, post: 0 }, 300);
  assert.equal(times.median("pre"), 6.5);
  assert.equal(times.last("pre"), 50);
  assert.equal(times.fps(), 10);
  times.clear();
  assert.ok(Number.isNaN(times.last("pre")));
});

test("what limits the rate: the source, if most frames are waited for, or the longest part", () => {
  const limitOf = (parts, waits) => {
    const times = new FrameTimes();
    for (const [k, waited] of waits.entries()) times.push(parts, 100 * k, waited);
    return times.limit();
  };
  const parts = { pre: 10, inference: 60, post: 1 };
  assert.equal(limitOf(parts, [0]), null);
  assert.deepEqual(limitOf(parts, [0, 0, 9]), { part: "inference", ms: 60, of: 100 });
  assert.equal(limitOf(parts, [0, 5, 9]).part, "source");
  assert.deepEqual(limitOf({ ...parts, inference: 20 }, [0, 0]), { part: "rest", ms: 69, of: 100 });
});

test("the chart's height is a round number that all frames fit in", () => {
  const tops = [0, 50, 51, 150, 201, 501, 1500].map(topOf);
  assert.deepEqual(tops, [50, 50, 100, 200, 500, 1000, 2000]);
});
