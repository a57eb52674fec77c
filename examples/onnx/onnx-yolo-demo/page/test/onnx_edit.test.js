import assert from "node:assert/strict";
import { test } from "node:test";
import { withHead, withMetadata, withOutputs, writeNames } from "../src/teach/onnx_edit.js";
import { fieldsOf, parseNames, readFacts, readMetadata } from "../src/worker/onnx_read.js";
import { detector } from "./onnx.js";

const GRAPH = 7;
const decoder = new TextDecoder();

/** Names of the nodes' results, the constants or the outputs of a model. */
function namesIn(model, list, field) {
  const graphs = [...fieldsOf(model)].filter((f) => f.field === GRAPH);
  assert.equal(graphs.length, 1);
  const entries = [...fieldsOf(graphs[0].content)].filter((f) => f.field === list);
  return entries.flatMap(({ content }) =>
    [...fieldsOf(content)].filter((f) => f.field === field).map((f) => decoder.decode(f.content)),
  );
}
const nodesOf = (model) => namesIn(model, 1, 2);
const constantsOf = (model) => namesIn(model, 5, 8);
const outputsOf = (model) => namesIn(model, 12, 1);

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
  assert.deepEqual(nodesOf(model), nodesOf(detector()));
});

test("more tensors become outputs, behind the model's own", () => {
  const model = withOutputs(detector(), ["means", "more"]);
  assert.deepEqual(outputsOf(model), ["output0", "means", "more"]);
  assert.deepEqual(nodesOf(model), nodesOf(detector()));
});

test("a detector and a head become one graph with the head's output", () => {
  const head = withOutputs(detector({ names: ["taught"] }), ["own"]);
  const data = Float32Array.of(1, 2, 3);
  const model = withHead(detector(), head, [{ name: "weight", dims: [3, 1], data }]);
  assert.deepEqual(outputsOf(model), ["output0", "own"]);
  assert.deepEqual(nodesOf(model), [...nodesOf(detector()), ...nodesOf(head)]);
  assert.deepEqual(constantsOf(model).slice(-1), ["weight"]);
  assert.deepEqual(readFacts(model).names, readFacts(detector()).names);
});
