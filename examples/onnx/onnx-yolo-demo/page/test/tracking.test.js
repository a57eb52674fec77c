import assert from "node:assert/strict";
import { test } from "node:test";
import { directions, Gate } from "../src/count/crossing.js";
import { overlapOf, pairBoxes } from "../src/count/matching.js";
import { Tracker } from "../src/count/tracking.js";

/** A detection of 20 x 30 pixels around a point. */
function at(x, y, name = "person") {
  return { x1: x - 10, y1: y - 15, x2: x + 10, y2: y + 15, name, score: 0.9, classId: 0 };
}

/** The numbers of the things in each of several frames. */
function follow(frames, tracker = new Tracker()) {
  return frames.map((frame) => tracker.update(frame).map(({ number }) => number));
}

const steps = (count) => Array.from({ length: count }, (_, k) => k);

test("overlap, and pairs by it", () => {
  assert.equal(overlapOf(at(10, 10), at(20, 10)), 1 / 3);
  assert.equal(overlapOf(at(10, 10), at(30, 10)), 0);
  assert.equal(overlapOf({ x1: 5, y1: 5, x2: 5, y2: 5 }, at(5, 5)), 0);
  const [a, b, c, d] = [at(0, 0), at(4, 0), at(5, 0), at(0, 0, "phone")];
  assert.deepEqual([...pairBoxes([a, b], [c, d], 0.3)], [[b, c]]);
});

test("a thing keeps its number, which it gets in the third frame", () => {
  const frames = steps(5).map((k) => [at(100 + 4 * k, 50)]);
  assert.deepEqual(follow(frames).flat(), [0, 0, 1, 1, 1]);
});

test("a frame that is seen again gives its things their numbers, and counts for nothing", () => {
  const tracker = new Tracker();
  follow([[at(100, 50)], [at(104, 50)]], tracker);
  for (let k = 0; k < 40; k++) tracker.numberAgain([]); // at a higher threshold
  tracker.numberAgain([at(104, 50), at(300, 50)]);
  assert.deepEqual([...tracker.seen], []); // it is sure after three frames, not after three looks
  assert.deepEqual(follow([[at(108, 50)]], tracker), [[1]]);
  const again = [at(300, 50), at(109, 50), at(108, 50, "phone")];
  tracker.numberAgain(again);
  assert.deepEqual(
    again.map(({ number }) => number),
    [undefined, 1, undefined],
  );
  for (let k = 0; k < 40; k++) tracker.numberAgain([]);
  assert.deepEqual(follow([[at(112, 50)]], tracker), [[1]]);
  assert.deepEqual([...tracker.seen], [["person", 1]]);
});

test("what flickers gets no number, and classes have their own numbers", () => {
  const tracker = new Tracker();
  const frames = steps(6).map((k) => [
    at(100, 50),
    at(300, 50, "phone"),
    ...(k % 3 ? [at(200, 200)] : []),
  ]);
  const last = follow(frames, tracker).at(-1);
  assert.deepEqual(last, [1, 1, 0]);
  assert.deepEqual(
    [...tracker.seen],
    [
      ["person", 1],
      ["phone", 1],
    ],
  );
});

test("things that meet and pass each other keep their numbers", () => {
  // Each overlaps the other's last place fully when they have passed.
  const frames = steps(21).map((k) => [at(50 + 10 * k, 50), at(260 - 10 * k, 50)]);
  assert.deepEqual(new Set(follow(frames).slice(2).map(String)), new Set(["1,2"]));
});

test("a thing that is hidden for some frames is known again, also while it moves", () => {
  const frames = steps(40).map((k) => (k > 9 && k < 30 ? [] : [at(50 + 5 * k, 50)]));
  assert.equal(follow(frames).at(-1)[0], 1);
});

test("a thing keeps its number where a busy device leaves frames out", () => {
  // 150 pixels a second: over a gap of a third of one it leaves its box wholly behind.
  const times = [0, 0.04, 0.08, 0.12, 0.45, 0.49, 0.89, 0.93];
  const tracker = new Tracker();
  const numbers = times.map((time, k) => {
    const [{ number }] = tracker.update([at(50 + 150 * time, 50)], time - (times[k - 1] ?? -0.04));
    return number;
  });
  assert.deepEqual(numbers, [0, 0, 1, 1, 1, 1, 1, 1]);
  assert.deepEqual([...tracker.seen], [["person", 1]]);
});

test("what was away for 30 frames is another one", () => {
  const away = (count) => [
    ...steps(3).map(() => [at(50, 50)]),
    ...steps(count).map(() => []),
    ...steps(3).map(() => [at(50, 50)]),
  ];
  assert.equal(follow(away(29)).at(-1)[0], 1);
  assert.equal(follow(away(30)).at(-1)[0], 2);
});

const LINE = { a: { x: 0.1, y: 0.5 }, b: { x: 0.9, y: 0.5 } };

/** What a gate says to a thing at each of several places. */
function pass(places, line = LINE) {
  const gate = new Gate(line);
  const thing = {};
  return places.map(([x, y]) => gate.pass(thing, { x, y }));
}

test("crossings are counted once, in both directions", () => {
  const down = [0.3, 0.4, 0.495, 0.505, 0.6, 0.7].map((y) => [0.5, y]);
  assert.deepEqual(pass(down), [0, 0, 0, 0, 1, 0]);
  assert.deepEqual(pass(down.toReversed()), [0, 0, 0, 0, -1, 0]);
  const turned = { a: LINE.b, b: LINE.a };
  assert.deepEqual(pass(down, turned), [0, 0, 0, 0, -1, 0]);
});

test("trembling on the line is no crossing, nor is passing beside its ends", () => {
  const trembling = [0.4, 0.495, 0.508, 0.492, 0.505, 0.4].map((y) => [0.5, y]);
  assert.deepEqual(pass(trembling), [0, 0, 0, 0, 0, 0]);
  assert.deepEqual(
    pass([
      [0.05, 0.4],
      [0.05, 0.6],
      [0.5, 0.7],
    ]),
    [0, 0, 0],
  );
  // Obliquely from beside it, but between its ends.
  assert.deepEqual(
    pass([
      [0.05, 0.4],
      [0.4, 0.6],
    ]),
    [0, 1],
  );
});

test("directions are named as they are seen", () => {
  const name = (a, b) => directions({ a: { x: a[0], y: a[1] }, b: { x: b[0], y: b[1] } });
  const words = (...ends) => name(...ends).map((one) => one.words);
  assert.deepEqual(words([0, 0], [1, 0]), ["down", "up"]);
  assert.deepEqual(words([0, 1], [0, 0]), ["to the right", "to the left"]);
  assert.deepEqual(words([0, 0], [0, 1]), ["to the left", "to the right"]);
  assert.equal(name([1, 1], [0, 0])[0].arrow, "↗");
});
