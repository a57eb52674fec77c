import assert from "node:assert/strict";
import { test } from "node:test";
import { withHead, withMetadata, withOutputs, writeNames } from "../src/teach/onnx_edit.js";
import { fieldsOf, parseNames, readFacts, readMetadata } from "../src/worker/onnx_read.js";
import { withSize } from "../src/worker/onnx_write.js";
import { constant, detector, field, valueInfo } from "./onnx.js";

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
const inputsOf = (model) => namesIn(model, 11, 1);
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

test("another size replaces constants of the same names, the input and the output", () => {
  const boxes = constant("boxes", [1, 6, 2], new Float32Array(12));
  const parts = [field(5, boxes), field(11, valueInfo("images", [1, 3, 64, 64]))];
  const patch = Buffer.concat([...parts, field(12, valueInfo("output0", [1, 6, 2]))]);
  const other = withSize(detector({ side: 32 }), patch);
  assert.deepEqual(nodesOf(other), nodesOf(detector()));
  assert.deepEqual(constantsOf(other), ["one", "zero", "boxes"]);
  assert.deepEqual([inputsOf(other), outputsOf(other)], [["images"], ["output0"]]);
  const [graph] = [...fieldsOf(other)].filter((f) => f.field === GRAPH);
  assert.ok(Buffer.from(graph.content).includes(boxes));
  assert.deepEqual(readMetadata(other), readMetadata(detector()));
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
