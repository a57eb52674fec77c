import assert from "node:assert/strict";
import { test } from "node:test";
import { fileKind, filesToOpen, keptSize, otherCamera, undecodable } from "../src/page/sources.js";

const named = (name, type = "") => ({ name, type });
const model = named("m.onnx");
const other = named("n.ONNX");
const picture = named("a.png", "image/png");
const film = named("f.mp4", "video/mp4");
const text = named("readme.txt", "text/plain");

test("of several files a model, and all pictures or one video, are opened", () => {
  const second = named("b.png", "image/png");
  assert.deepEqual(filesToOpen([picture, text, model, film, other, second]), [
    model,
    picture,
    second,
  ]);
  assert.deepEqual(filesToOpen([text, film, picture]), [film]);
  assert.deepEqual(filesToOpen([other, model]), [other]);
  assert.deepEqual(filesToOpen([text, text]), [text]); // which is refused by its name
});

test("HEIC and TIFF are pictures by their names, and a message names the way out", () => {
  for (const name of ["IMG_1.HEIC", "a.heif", "b.tif", "c.TIFF"]) {
    assert.equal(fileKind(named(name)), "picture");
  }
  assert.match(undecodable(named("IMG_1.HEIC")), /HEIC.*JPEG.*Safari/);
  assert.match(undecodable(named("x", "image/tiff")), /TIFF.*PNG/);
  assert.equal(undecodable(picture), "");
});

test("pictures keep their size up to 24 million pixels, and their proportions beyond", () => {
  assert.deepEqual(keptSize(6000, 4000), { width: 6000, height: 4000 });
  const { width, height } = keptSize(12000, 9000);
  assert.ok(width * height <= 24e6 && width * height > 23.9e6);
  assert.ok(Math.abs(width / height - 4 / 3) < 1e-3);
  assert.deepEqual(keptSize(1, 100_000_000), { width: 1, height: 16384 });
});

test("the other camera looks the other way, or is the next one", () => {
  const labels = ["Front Camera", "Front Wide Camera", "Back Camera", "Back Telephoto Camera"];
  const cameras = labels.map((label) => ({ deviceId: label, label }));
  const flip = (label, among = cameras) => otherCamera(among, label).label;
  assert.equal(flip("Front Camera"), "Back Camera");
  assert.equal(flip("Back Camera"), "Front Camera");
  assert.equal(flip("Back Telephoto Camera"), "Front Camera");
  assert.equal(flip("Front Camera", cameras.slice(0, 2)), "Front Wide Camera");
  assert.equal(flip("Front Wide Camera", cameras.slice(0, 2)), "Front Camera");
});
