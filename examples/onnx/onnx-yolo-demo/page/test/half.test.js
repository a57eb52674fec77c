import assert from "node:assert/strict";
import { test } from "node:test";
import { asFloats, fromHalf, toHalf } from "../src/worker/half.js";
import { createLetterbox } from "../src/worker/letterbox.js";

test("patterns of 16 bits are what the standard says", () => {
  const known = [
    [0, 0x0000],
    [-0, 0x8000],
    [1, 0x3c00],
    [-2, 0xc000],
    [1 / 3, 0x3555],
    [114 / 255, 0x3727],
    [65504, 0x7bff],
    [65519.9, 0x7bff],
    [65520, 0x7c00],
    [Number.NEGATIVE_INFINITY, 0xfc00],
    [Number.NaN, 0x7e00],
    [2 ** -14, 0x0400],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000], // half way: the even one
    [3 * 2 ** -25, 0x0002],
    [1023.75 * 2 ** -24, 0x0400],
    [1 + 2 ** -11, 0x3c00], // half way
    [1 + 3 * 2 ** -11, 0x3c02],
  ];
  for (const [value, bits] of known) assert.equal(toHalf(value), bits, `${value}`);
});

test("every pattern comes back from its number", () => {
  for (let bits = 0; bits < 65536; bits++) {
    const value = fromHalf(bits);
    if (Number.isNaN(value)) assert.ok((bits & 0x7fff) > 0x7c00);
    else assert.equal(toHalf(value), bits);
  }
});

test("outputs of 16 bits are read, whatever the browser gives", () => {
  const floats = Float32Array.of(0.5, -2);
  assert.deepEqual(asFloats("float16", Uint16Array.of(0x3800, 0xc000)), floats);
  assert.deepEqual(asFloats("float16", [0.5, -2]), floats);
  assert.equal(asFloats("float32", floats), floats);
});

test("a letterbox writes patterns where its levels are some", () => {
  const rgba = Uint8ClampedArray.from({ length: 4 * 30 * 20 }, (_, k) => (k * k) % 251);
  const [floats, patterns] = [new Float32Array(3 * 64), new Uint16Array(3 * 64)];
  createLetterbox(8).run(rgba, 30, 20, floats);
  createLetterbox(8, toHalf).run(rgba, 30, 20, patterns);
  assert.deepEqual(patterns, Uint16Array.from(floats, toHalf));
});
