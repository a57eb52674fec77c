import assert from "node:assert/strict";
import { test } from "node:test";
import { createLetterbox, fit } from "../src/worker/letterbox.js";
import { floatsOf, skip, vectors } from "./vectors.js";

test("halves of a pixel go to the even number", () => {
  assert.equal(fit(128, 33, 64).resizedHeight, 16);
  assert.equal(fit(33, 128, 64).resizedWidth, 16);
  assert.throws(() => fit(0, 5, 32), /sides must be positive/);
});

test("a picture that takes much memory leaves the next one as it is", () => {
  const box = createLetterbox(64);
  const small = Uint8ClampedArray.from({ length: 4 * 90 * 70 }, (_, k) => (k * k) % 251);
  const [before, after] = [new Float32Array(3 * 64 * 64), new Float32Array(3 * 64 * 64)];
  box.run(small, 90, 70, before);
  box.run(new Uint8ClampedArray(4 * 4000 * 2100), 4000, 2100, after);
  assert.equal(after[32 * 64], 0);
  assert.deepEqual(box.run(small, 90, 70, after), fit(90, 70, 64));
  assert.deepEqual(after, before);
});

test("a picture that there is no memory for is refused a second time, too", () => {
  const box = createLetterbox(64);
  const rgba = Uint8ClampedArray.from({ length: 4 * 110 * 110 }, (_, k) => (k * k) % 251);
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = () => {
    throw new RangeError("no memory");
  };
  const out = new Float32Array(3 * 64 * 64);
  try {
    for (let k = 0; k < 2; k++) assert.throws(() => box.run(rgba, 110, 110, out), /no memory/);
  } finally {
    WebAssembly.Memory.prototype.grow = grow;
  }
  assert.deepEqual(box.run(rgba, 110, 110, out), fit(110, 110, 64));
  const wanted = new Float32Array(3 * 64 * 64);
  createLetterbox(64).run(rgba, 110, 110, wanted);
  assert.deepEqual(out, wanted);
});

test("a picture of the wrong size is refused", () => {
  const box = createLetterbox(8);
  const rgba = new Uint8ClampedArray(4);
  assert.throws(() => box.run(rgba, 2, 1, new Float32Array(192)), /no RGBA picture of 2x1/);
  assert.throws(() => box.run(rgba, 1, 1, new Float32Array(64)), /needed: 3 x 8 x 8/);
});

test("every pixel is Python's", { skip }, () => {
  const boxes = new Map(); // of each size one, so that pictures of several shapes go through it
  for (const { geometry, rgba, expected } of vectors.letterbox) {
    const { width, height, size } = geometry;
    const box = boxes.get(size) ?? createLetterbox(size);
    boxes.set(size, box);
    const out = new Float32Array(3 * size * size).fill(7);
    const pixels = new Uint8ClampedArray(Buffer.from(rgba, "base64"));
    assert.deepEqual(box.run(pixels, width, height, out), geometry);
    assert.deepEqual(out, floatsOf(expected), `${width}x${height} to ${size}`);
  }
});
