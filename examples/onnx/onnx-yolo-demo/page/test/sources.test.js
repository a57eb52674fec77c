import assert from "node:assert/strict";
import { test } from "node:test";
import { filesToOpen } from "../src/sources.js";

const named = (name, type = "") => ({ name, type });
const model = named("m.onnx");
const other = named("n.ONNX");
const picture = named("a.png", "image/png");
const film = named("f.mp4", "video/mp4");
const text = named("readme.txt", "text/plain");

test("of several files a model and something to detect in are opened, the model first", () => {
  assert.deepEqual(filesToOpen([picture, text, model, film, other]), [model, picture]);
  assert.deepEqual(filesToOpen([text, film, picture]), [film]);
  assert.deepEqual(filesToOpen([other, model]), [other]);
  assert.deepEqual(filesToOpen([text, text]), [text]); // which is refused by its name
});
