import assert from "node:assert/strict";
import { test } from "node:test";
import {
  otherModel,
  parseNames,
  readFacts,
  readMetadata,
  thresholdsFor,
} from "../src/worker/onnx_read.js";
import { field } from "./onnx.js";

/** The head of an ONNX file: a version, a graph, and metadata. */
function modelWith(metadata) {
  const entries = Object.entries(metadata);
  return Buffer.concat([
    Buffer.from([8, 9]), // ir_version
    field(7, Buffer.alloc(300, 7)), // the graph, which nobody looks into
    ...entries.map(([key, value]) => field(14, Buffer.concat([field(1, key), field(2, value)]))),
  ]);
}

test("metadata are found behind the graph", () => {
  const metadata = { names: "{0: 'person'}", note: "ä" };
  assert.deepEqual(readMetadata(modelWith(metadata)), metadata);
});

test("facts of a detector, and of a file without metadata", () => {
  const metadata = {
    names: "{0: 'a', 2: 'c'}",
    conf: "0.31",
    thresholds: '{"a": 0.4, "c": 1}',
    iou: "0.55",
    imgsz: "[96, 96]",
    trained_on: "drawings",
    license: "BSD-3-Clause",
    average_precision:
      '{"on": "ten drawings", "per_class": {"a": {"map50": 0.5, "map50_95": null}}}',
  };
  assert.deepEqual(readFacts(modelWith(metadata)), {
    names: ["a", "class 1", "c"],
    confidence: 0.31,
    thresholds: { a: 0.4, c: 1 },
    iou: 0.55,
    size: 96,
    trainedOn: "drawings",
    licence: "BSD-3-Clause",
    scores: { on: "ten drawings", perClass: { a: { map50: 0.5, map50_95: null } } },
  });
  const unsaid = { trainedOn: "", licence: "", scores: null };
  const standard = { confidence: 0.25, thresholds: {}, iou: 0.45 };
  const none = { names: null, ...standard, size: null, ...unsaid };
  assert.deepEqual(readFacts(modelWith({})), none);
  const others = ["much", "0.5", '{"on": "x", "per_class": {"a": {"map50": 7, "map50_95": 0}}}'];
  others.push('{"on": "x", "per_class": {"a": {"map50": "0.5", "map50_95": 0}}}');
  others.push('{"on": "x", "per_class": {"another": {"map50": 0.5, "map50_95": 0}}}');
  for (const average_precision of others) {
    const facts = readFacts(modelWith({ names: "['a']", average_precision }));
    assert.deepEqual(facts, { ...none, names: ["a"] });
  }
  for (const conf of ["much", "", " "]) {
    assert.throws(() => readFacts(modelWith({ conf })), { code: "model-shape" });
  }
  for (const thresholds of ["much", "0.5", "null", "[0.5]", '{"a": "0.5"}', '{"a": 1.5}']) {
    const message = /gives "thresholds" as .*; needed: a number from 0 to 1 for each class/;
    assert.throws(() => readFacts(modelWith({ thresholds })), { code: "model-shape", message });
  }
});

test("a class without a threshold has that of all", () => {
  const facts = readFacts(modelWith({ conf: "0.3", thresholds: '{"toString": 0.4, "b": 0.5}' }));
  assert.deepEqual(thresholdsFor(["b", "toString", "valueOf"], facts), [0.5, 0.4, 0.3]);
});

test("files that are cut off or something else are refused", () => {
  const whole = modelWith({ names: "{0: 'person'}" });
  for (const bytes of [whole.subarray(0, -5), Buffer.from("<!doctype html>"), Buffer.from([255])]) {
    assert.throws(() => readFacts(bytes), { code: "model-broken" });
  }
});

test("names as Python and JSON write them", () => {
  const written = {
    "{0: \"it's\", 1: 'say \"x\"', 2: 'both \\' and \"'}": ["it's", 'say "x"', "both ' and \""],
    "['back\\\\x41', 'tab\\t', '\\x00\\xe9', '\\U0001f4f1']": ["back\\x41", "tab\t", "\0é", "📱"],
    '["a, b", "{1: \'x\'}", "]", "\\u7535"]': ["a, b", "{1: 'x'}", "]", "电"],
    '{\n  "1": "b",\n  "0": "a"\n}': ["a", "b"],
  };
  for (const [text, names] of Object.entries(written)) assert.deepEqual(parseNames(text), names);
  for (const text of ["", "person", "{0: 'a'", "['a'] + x", "[alert(1)]", "{'a': 'b'}"]) {
    assert.throws(() => parseNames(text), SyntaxError, text);
    assert.throws(() => readFacts(modelWith({ names: text })), { code: "model-shape" });
  }
});

test("forms are of one model if the export, the classes and the size are the same", () => {
  const facts = { names: ["a", "b"], size: 64, confidence: 0.25, iou: 0.7, trainedOn: "" };
  const own = { file: "a.onnx", export: "12", sha256: "1", bytes: 1, weights: "int8", facts };
  const floats = { ...own, sha256: "2", bytes: 2, weights: "float16" };
  assert.equal(otherModel(own, floats), "");
  const other = { ...floats, export: "34", file: "b.onnx" };
  assert.equal(otherModel(own, other), "made of b.onnx, and not of the same export");
  const { export: _, ...old } = floats; // as earlier builds wrote it
  assert.match(otherModel(own, old), /not of the same export/);
  assert.match(otherModel(own, { ...floats, facts: { ...facts, names: ["a"] } }), /classes/);
  assert.match(otherModel(own, { ...floats, facts: { ...facts, size: 96 } }), /96 pixels instead/);
});
