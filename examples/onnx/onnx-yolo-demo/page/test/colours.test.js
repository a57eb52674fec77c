import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseColour, classColour, inkOn, resetColours } from "../src/page/colours.js";

/** Contrast of two colours "#rrggbb" (WCAG 2.1). */
function contrast(one, other) {
  const light = (colour) => {
    const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
    const [r, g, b] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const [a, b] = [light(one), light(other)];
  return Math.max(a, b) / Math.min(a, b);
}

test("a class keeps its colour until another is chosen, and gets it back", () => {
  const usual = classColour("cat", 3);
  assert.equal(classColour("dog", 3), usual); // as there are more classes than colours
  chooseColour("cat", "#123456");
  assert.deepEqual([classColour("cat", 3), classColour("cat", 8)], ["#123456", "#123456"]);
  assert.equal(classColour("dog", 3), usual);
  resetColours();
  assert.equal(classColour("cat", 3), usual);
});

test("letters are readable on every colour", () => {
  const steps = [0, 51, 102, 128, 153, 204, 255].map((v) => v.toString(16).padStart(2, "0"));
  for (const r of steps) {
    for (const g of steps) {
      for (const b of steps) {
        const colour = `#${r}${g}${b}`;
        assert.ok(contrast(colour, inkOn(colour)) >= 4.5, colour);
      }
    }
  }
});
