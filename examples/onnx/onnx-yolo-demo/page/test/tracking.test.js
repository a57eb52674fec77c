import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { directions, Gate } from "../src/count/crossing.js";
import { Follower, leastScores } from "../src/count/follower.js";
import { overlapOf, pairBoxes } from "../src/count/matching.js";
import { drawn, follow, jumped, NOTHING, withoutNumbers } from "../src/count/tracking.js";

const LIMITS = [0.4, 0.4]; // thresholds of the two classes

/** A detection of 20 x 30 pixels around a point. */
function at(x, y, name = "person", score = 0.9) {
  const classId = Number(name === "phone");
  return { x1: x - 10, y1: y - 15, x2: x + 10, y2: y + 15, name, score, classId };
}

/** The states after each of several frames; a thing is sure in the third one. */
function states(frames, seconds = 0.25, state = NOTHING) {
  return frames.map((frame) => {
    state = follow(state, frame, LIMITS, seconds);
    return state;
  });
}

/** The numbers of what is drawn in each of several frames, from left to right. */
function numbers(frames, seconds) {
  return states(frames, seconds).map((state) =>
    drawn(state)
      .toSorted((a, b) => a.box.x1 - b.box.x1)
      .map(({ number }) => number),
  );
}

const steps = (count) => Array.from({ length: count }, (_, k) => k);
const flat = (value) => JSON.stringify(value);

test("overlap, and pairs by it", () => {
  assert.equal(overlapOf(at(10, 10), at(20, 10)), 1 / 3);
  assert.equal(overlapOf(at(10, 10), at(30, 10)), 0);
  assert.equal(overlapOf({ x1: 5, y1: 5, x2: 5, y2: 5 }, at(5, 5)), 0);
  const [a, b, c, d] = [at(0, 0), at(4, 0), at(5, 0), at(0, 0, "phone")];
  assert.deepEqual([...pairBoxes([a, b], [c, d], 0.3)], [[b, c]]);
});

test("the rules, as any program that follows them can check itself", () => {
  const { names, scenes } = JSON.parse(
    readFileSync(new URL("tracks.json", import.meta.url), "utf8"),
  );
  for (const { title, thresholds, frames } of scenes) {
    let state = NOTHING;
    for (const [k, { jump, seconds, found, drawn: expected }] of frames.entries()) {
      const detections = found.map(([x1, y1, x2, y2, score, classId]) => {
        return { x1, y1, x2, y2, score, classId, name: names[classId] };
      });
      state = follow(jump ? jumped(state) : state, detections, thresholds, seconds);
      const rows = drawn(state).map(({ box, number }) => {
        const { x1, y1, x2, y2, score, classId } = box;
        return [x1, y1, x2, y2, score, classId, number];
      });
      const where = `${title}, frame ${k}: ${flat(rows)}`;
      assert.equal(rows.length, expected.length, where);
      for (const [i, row] of rows.entries()) {
        for (const [j, value] of row.entries()) {
          assert.ok(Math.abs(value - expected[i][j]) < 0.006, where);
        }
      }
    }
  }
});

test("a thing is drawn at once, and gets its number after three frames and half a second", () => {
  const frames = steps(20).map((k) => [at(100 + 4 * k, 50)]);
  for (const [seconds, first] of [
    [1, 2],
    [0.25, 2],
    [0.1, 5],
    [1 / 32, 16],
  ]) {
    const found = numbers(frames, seconds).flat();
    assert.deepEqual(
      found,
      steps(20).map((k) => Number(k >= first)),
      `${seconds} s`,
    );
  }
});

test("nothing that is given is changed, so a frame can be taken again", () => {
  const [first, second] = states([[at(100, 50)], [at(104, 50)]]);
  const before = flat(second);
  const higher = follow(second, [], LIMITS, 0.25); // at a higher threshold
  assert.equal(higher.tracks[0].missed, 1);
  assert.equal(flat(second), before);
  assert.notEqual(flat(first), before);
  assert.deepEqual(follow(second, [at(108, 50)], LIMITS, 0.25).seen, { person: 1 });
});

test("what is found in two of three frames is drawn in all, and gets no number", () => {
  const frames = steps(9).map((k) => [
    at(100, 50),
    ...(k % 3 ? [at(200, 200)] : []),
    at(300, 50, "phone"),
  ]);
  assert.deepEqual(numbers(frames).at(-1), [1, 0, 1]);
  assert.deepEqual(numbers(frames).at(-3), [1, 0, 1]);
  assert.deepEqual(states(frames).at(-1).seen, { person: 1, phone: 1 });
});

test("a thing that is hidden for some frames is known again, also while it moves", () => {
  const frames = steps(40).map((k) => (k > 9 && k < 30 ? [] : [at(50 + 5 * k, 50)]));
  assert.deepEqual(numbers(frames).at(-1), [1]);
  assert.deepEqual(numbers(frames)[25], []);
});

test("a thing keeps its number where a busy device leaves frames out", () => {
  // 150 pixels a second: over a gap of a third of one it leaves its box wholly behind.
  const times = [...steps(15).map((k) => 0.04 * k), 0.89, 0.93, 1.33, 1.37];
  let state = NOTHING;
  const found = times.map((time, k) => {
    state = follow(state, [at(50 + 150 * time, 50)], LIMITS, time - (times[k - 1] ?? -0.04));
    return drawn(state).map(({ number }) => number);
  });
  assert.deepEqual(found.flat(), [...steps(13).map(() => 0), 1, 1, 1, 1, 1, 1]);
});

test("what was away for 30 frames is another one", () => {
  const away = (count) => [
    ...steps(3).map(() => [at(50, 50)]),
    ...steps(count).map(() => []),
    ...steps(3).map(() => [at(50, 50)]),
  ];
  assert.deepEqual(numbers(away(29)).at(-1), [1]);
  assert.deepEqual(numbers(away(30)).at(-1), [2]);
});

test("what leaves is no longer drawn within 0.3 seconds, at any rate of frames", () => {
  for (const rate of [2, 5, 10, 15, 30, 60]) {
    const frames = [...steps(5).map(() => [at(50, 50)]), ...steps(60).map(() => [])];
    const left = numbers(frames, 1 / rate).filter((shown) => shown.length).length - 5;
    assert.ok(left / rate < 0.3, `${left} frames of ${rate} a second`);
  }
});

/** How many things are drawn in each of some frames in which one has these scores, 0.1 s apart. */
const counts = (scores, state = NOTHING) =>
  states(
    scores.map((score) => [at(50, 50, "person", score)]),
    0.1,
    state,
  ).map((after) => drawn(after).length);

test("what was weak is drawn when its excess over the threshold adds up, or at twice it", () => {
  assert.deepEqual(counts([0.2, 0.3, 0.45, 0.2]), [0, 0, 0, 0]);
  assert.deepEqual(counts([0.2, 0.72, 0.72, 0.72, 0.72, 0.72]), [0, 0, 0, 0, 1, 1]); // 0.08 each
  assert.deepEqual(counts([0.2, 0.2, 0.81, 0.6]), [0, 0, 1, 1]);
  const trembling = steps(100).map((k) => (k % 2 ? 0.25 : 0.54));
  assert.equal(counts([0.2, ...trembling]).at(-1), 0);
});

test("a thing a little above its threshold is drawn after some time at any rate of frames", () => {
  for (const [rate, most] of [
    [1, 6],
    [4, 1.5],
    [10, 1.6],
    [30, 1.6],
  ]) {
    const scores = [0.2, ...steps(60).map(() => 0.5)]; // 1.25 times the threshold: after 1.2 s
    const first = states(
      scores.map((score) => [at(50, 50, "person", score)]),
      1 / rate,
    ).findIndex((state) => drawn(state).length);
    assert.ok(first > 0 && first / rate < most, `${first} frames of ${rate} a second`);
  }
});

test("what was weak is known for a second without it", () => {
  const weak = [at(50, 50, "person", 0.2)];
  const clear = [at(50, 50, "person", 0.61)]; // 1.5 times the threshold
  for (const [missing, shown] of [
    [5, 0],
    [12, 1],
  ]) {
    const frames = [[], weak, ...steps(missing).map(() => []), clear];
    assert.equal(drawn(states(frames, 0.1).at(-1)).length, shown, `${missing} frames`);
  }
});

test("what trembles is drawn steadier, and what moves where it is", () => {
  const error = (path) => {
    const after = states(
      path.map((x) => [at(x, 50)]),
      1 / 30,
    ).map((state) => drawn(state)[0].box.x1 + 10);
    return (truth) => Math.sqrt(after.reduce((sum, x, k) => sum + (x - truth[k]) ** 2, 0) / 60);
  };
  const still = steps(60).map(() => 100);
  const trembling = still.map((x, k) => x + [0.3, -0.3, 0.1, -0.2, 0.3][k % 5]);
  assert.ok(error(trembling)(still) < 0.15); // of 0.26
  const moving = still.map((x, k) => x + 2 * k);
  assert.ok(error(moving)(moving) < 0.2);
  const turning = still.map((x, k) => x + 40 * Math.sin(k / 6));
  assert.ok(error(turning)(turning) < 0.5);
});

test("numbers that are taken back begin again with what is there", () => {
  const state = states(steps(5).map((k) => [at(50, 50), ...(k < 4 ? [at(200, 50)] : [])])).at(-1);
  assert.deepEqual(state.seen, { person: 2 });
  const next = follow(withoutNumbers(state), [at(50, 50)], LIMITS);
  assert.deepEqual(next.seen, { person: 1 });
});

const frame = (mediaTime, more = {}) => ({
  live: /** @type {"video"} */ ("video"),
  title: "film",
  mirrored: false,
  mediaTime,
  ...more,
});

const SETTINGS = { confidence: LIMITS, enabled: null };

test("a follower takes the time of frames, and takes one again", () => {
  const follower = new Follower();
  const take = (...given) => follower.take(frame(...given), [at(50, 50)], SETTINGS);
  for (const k of steps(2)) take(k / 4);
  for (const _ of steps(9)) take(0.25, { again: true });
  assert.deepEqual(follower.seen, {}); // it is sure after three frames, not after three looks
  take(0.5);
  assert.deepEqual(follower.seen, { person: 1 });
  take(0.6);
  assert.deepEqual(follower.take(frame(0.6, { again: true }), [], SETTINGS).length, 1); // it waits
  assert.deepEqual(follower.take(frame(0.9), [], SETTINGS), []);
  take(1);
  assert.deepEqual(follower.seen, { person: 1 });
  take(0.1); // the film is at its beginning again
  assert.deepEqual(follower.seen, { person: 1 });
  follower.restart();
  assert.deepEqual(follower.seen, {});
});

test("another source, another model, or a picture begins again", () => {
  for (const next of [frame(0.6, { title: "b" }), frame(0.6), frame(0.6, { live: undefined })]) {
    const follower = new Follower();
    for (const k of steps(3)) follower.take(frame(k / 4), [at(50, 50)], SETTINGS, "model");
    assert.deepEqual(follower.seen, { person: 1 });
    assert.deepEqual(follower.take(next, [], SETTINGS, "other"), []);
    assert.deepEqual(follower.seen, {});
  }
});

test("what is switched off, or below another threshold, is no longer drawn", () => {
  const follower = new Follower();
  const weak = [at(50, 50, "person", 0.3)];
  const count = (more, settings) =>
    follower.take(frame(0.1, more), weak, { ...SETTINGS, ...settings }).length;
  follower.take(frame(0), [at(50, 50, "person", 0.5)], SETTINGS);
  assert.equal(count({}, {}), 1); // it stays
  const again = { again: true };
  assert.equal(count(again, { enabled: [1] }), 0);
  assert.equal(count(again, { confidence: [0.6, 0.4] }), 0);
  assert.equal(count(again, {}), 1);
});

test("pictures are detected in with the thresholds themselves", () => {
  assert.deepEqual(leastScores(frame(0, { live: undefined }), [0.5, 0.2]), [0.5, 0.2]);
  assert.deepEqual(leastScores(frame(0), [0.5, 0.2]), [0.1, 0.2 * 0.2]);
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

test("trembling on the line is no crossing, nor is passing next to its ends", () => {
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
  // Obliquely from next to it, but between its ends.
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
