import assert from "node:assert/strict";
import { test } from "node:test";
import { withMetadata, writeNames } from "../src/teach/onnx_edit.js";
import { parseNames, readFacts, readMetadata } from "../src/worker/onnx_read.js";
import { graphOf } from "../src/worker/onnx_write.js";
import { detector } from "./onnx.js";

test("class names survive being written and read", () => {
  for (const names of [
    ["mug"],
    ["it's", 'a "b"', "c\\d", "e\nf\tg\u0000", "日本 🦆", "{0: 'x'}"],
  ]) {
    assert.deepEqual(parseNames(writeNames(names)), names);
  }
});

test("metadata are replaced, and the others stay", () => {
  const model = withMetadata(detector({ metadata: { conf: "0.3", constructor: "me" } }), {
    names: "{0: 'a', 1: 'b'}",
  });
  assert.deepEqual(readFacts(model).names, ["a", "b"]);
  assert.equal(readFacts(model).confidence, 0.3);
  assert.deepEqual(Object.keys(readMetadata(model)).sort(), ["conf", "constructor", "names"]);
  assert.deepEqual(graphOf(model), graphOf(detector()));
});
