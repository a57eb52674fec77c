/** Pictures to learn from: their boxes are where their things are. */
import { createAugmenter, createRandom } from "../../src/teach/augment.js";
import { check, scenarios } from "./helpers.js";

const SIZE = 192;
const NEAR = 2; // pixels

/** A black frame with a white egg. */
function example() {
  const canvas = new OffscreenCanvas(160, 120);
  const context = canvas.getContext("2d");
  context.fillRect(0, 0, 160, 120);
  context.fillStyle = "white";
  context.ellipse(60, 50, 20, 30, 0, 0, 2 * Math.PI);
  context.fill();
  const boxes = [{ x1: 40, y1: 20, x2: 80, y2: 80, label: "egg" }];
  return { bitmap: canvas.transferToImageBitmap(), boxes };
}

/** The ends of what is white within a box, in pixels: left, top, right, bottom. */
function ends(input, [left, top, right, bottom]) {
  const red = input.subarray(0, SIZE * SIZE);
  const brightest = red.reduce((most, value) => Math.max(most, value), 0);
  const found = [SIZE, SIZE, 0, 0];
  for (let y = Math.floor(top); y < bottom; y++) {
    for (let x = Math.floor(left); x < right; x++) {
      if (red[y * SIZE + x] < 0.6 * brightest) continue; // the grey around has 0.45 of white
      found[0] = Math.min(found[0], x);
      found[1] = Math.min(found[1], y);
      found[2] = Math.max(found[2], x + 1);
      found[3] = Math.max(found[3], y + 1);
    }
  }
  return found;
}

scenarios({
  async "things reach to the sides of their boxes"() {
    const options = { examples: [example()], labels: ["egg"], size: SIZE, maxBoxes: 16 };
    const draw = createAugmenter({ ...options, random: createRandom(1) });
    let count = 0;
    for (let picture = 0; picture < 30; picture++) {
      const { input, boxes, rows } = await draw();
      check(rows.length === boxes.length && rows.every((row) => row === 0), "a row for each box");
      for (const [x, y, width, height] of boxes) {
        const box = [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
        const pixels = box.map((side) => side * SIZE);
        const gaps = ends(input, pixels).map((end, k) => Math.abs(end - pixels[k]));
        check(Math.max(...gaps) < NEAR, `picture ${picture}: box ${pixels}, ${gaps} pixels off`);
        count += 1;
      }
    }
    check(count > 40, `${count} boxes`);
  },
});
