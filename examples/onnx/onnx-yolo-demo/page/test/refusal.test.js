import assert from "node:assert/strict";
import { test } from "node:test";
import * as ort from "onnxruntime-web";
import { refusal } from "../src/worker/refusal.js";
import { constant, detector, externalConstant, node } from "./onnx.js";

const weights = (change) => detector({ change });

/** Models that onnxruntime-web refuses, and what the page says of them. */
const REFUSED = {
  "an opset to come": [
    detector({ opset: 99 }),
    "it is written in opset 99 of ai.onnx, and the page's runtime knows opsets up to 26; export " +
      "it with an older one, such as opset 20",
  ],
  "a custom operator": [
    detector({
      domains: ["com.example"],
      change: ({ nodes }) =>
        nodes.push(node("Wonder", ["mean"], ["more"], { domain: "com.example" })),
    }),
    "it uses Wonder, an operator of com.example, which the page's runtime does not have; export " +
      "it with ONNX's own operators only",
  ],
  "an operator that ONNX does not have": [
    weights(({ nodes }) => nodes.push(node("Wonder", ["mean"], ["more"]))),
    "it uses the operator Wonder, which ONNX's opset 18 does not have; export it with another " +
      "opset, or without this operator",
  ],
  "weights in another file": [
    weights(({ nodes, constants }) => {
      constants.push(externalConstant("w", [1], "weights.bin"));
      nodes.push(node("Mul", ["mean", "w"], ["more"]));
    }),
    'its weights are in another file, "weights.bin"; save it as one file: ' +
      'onnx.save(onnx.load("model.onnx"), "one_file.onnx")',
  ],
  "shapes that do not fit": [
    weights(({ nodes, constants }) => {
      constants.push(constant("v", [7, 5], new Float32Array(35)));
      constants.push(constant("w", [3, 5], new Float32Array(15)));
      nodes.push(node("Add", ["v", "w"], ["more"]));
    }),
    "the page's runtime says: [ShapeInferenceError] Incompatible dimensions",
  ],
};

test("the runtime's refusals are told in the reader's words", async () => {
  ort.env.logLevel = "fatal";
  for (const [what, [bytes, expected]] of Object.entries(REFUSED)) {
    const error = await ort.InferenceSession.create(bytes).then(
      () => assert.fail(`${what} is not refused`),
      (thrown) => refusal(String(thrown.message ?? thrown)),
    );
    assert.equal(error.message, expected, what);
    assert.equal(error.code, "model-refused");
  }
  const session = await ort.InferenceSession.create(detector());
  assert.deepEqual(session.outputNames, ["output0"]); // what is well is not refused
});

test("what is no model, or too much for the browser", async () => {
  const html = new TextEncoder().encode("<!doctype html>");
  const { message } = await ort.InferenceSession.create(html).catch((error) => error);
  assert.equal(refusal(message).code, "model-broken");
  assert.match(refusal("std::bad_alloc").message, /needs more memory/);
});

test("places in the runtime's sources are left out", () => {
  const said =
    "Can't create a session. ERROR_CODE: 1, ERROR_MESSAGE: /mnt/azure/_work/1/s/onnxruntime/core/" +
    "graph/model.h:56 void onnxruntime::Validate(const std::string &, int) Something is wrong.";
  assert.equal(refusal(said).message, "the page's runtime says: Something is wrong.");
});
