import assert from "node:assert/strict";
import { test } from "node:test";
import { exifOrientation, uprightTransform, webpOrientation } from "../src/page/upright.js";

/** EXIF data with one entry before the orientation. */
function exif(value, little, prefix = []) {
  const view = new DataView(new ArrayBuffer(8 + 2 + 24));
  view.setUint16(0, little ? 0x4949 : 0x4d4d);
  view.setUint16(2, 42, little);
  view.setUint32(4, 8, little);
  view.setUint16(8, 2, little);
  view.setUint16(10, 0x010f, little);
  view.setUint16(22, 0x0112, little);
  view.setUint16(24, 3, little);
  view.setUint32(26, 1, little);
  view.setUint16(30, value, little);
  return Uint8Array.from([...prefix, ...new Uint8Array(view.buffer)]);
}

const PREFIX = [0x45, 0x78, 0x69, 0x66, 0, 0]; // "Exif"
const letters = (text) => [...text].map((letter) => letter.charCodeAt(0));
const chunk = (name, bytes) => [
  ...letters(name),
  ...[bytes.length, 0, 0, 0],
  ...bytes,
  ...Array(bytes.length % 2).fill(0),
];
const webp = (...chunks) =>
  new Blob([Uint8Array.from([...letters("RIFF----WEBP"), ...chunks.flat()])]);

test("the orientation of EXIF data, in both orders of bytes", () => {
  for (const little of [true, false]) {
    for (const prefix of [[], PREFIX]) {
      const bytes = exif(6, little, prefix);
      assert.equal(exifOrientation(new DataView(bytes.buffer)), 6);
      for (let length = 0; length < bytes.length; length++) {
        const cut = exifOrientation(new DataView(bytes.buffer, 0, length));
        assert.ok(cut === 1 || cut === 6); // no error
      }
    }
    assert.equal(exifOrientation(new DataView(exif(9, little).buffer)), 1);
  }
});

test("WebP has it in a chunk, behind others of odd lengths", async () => {
  const pixels = chunk("VP8L", [1, 2, 3]);
  assert.equal(await webpOrientation(webp(pixels, chunk("EXIF", [...exif(8, true)]))), 8);
  assert.equal(await webpOrientation(webp(pixels)), 1);
  assert.equal(await webpOrientation(new Blob(["no picture"])), 1);
  assert.equal(await webpOrientation(webp(letters("VP8L"), [255, 255, 255, 255])), 1);
});

test("each orientation moves the corners of a picture of 30 x 20 to where they belong", () => {
  const corner = (orientation, x, y) => {
    const [a, b, c, d, e, f] = uprightTransform(orientation, 30, 20);
    return [a * x + c * y + e, b * x + d * y + f].join();
  };
  // Where the stored upper left corner is to be, and the upper right one, by EXIF 2.32.
  const places = ["0,0 30,0", "30,0 0,0", "30,20 0,20", "0,20 30,20"];
  places.push("0,0 0,30", "20,0 20,30", "20,30 20,0", "0,30 0,0");
  for (const [k, place] of places.entries()) {
    assert.equal(`${corner(k + 1, 0, 0)} ${corner(k + 1, 30, 0)}`, place);
  }
});
