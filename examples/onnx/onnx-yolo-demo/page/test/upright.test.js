import assert from "node:assert/strict";
import { test } from "node:test";
import { exifOrientation, webpOrientation } from "../src/page/upright.js";

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
