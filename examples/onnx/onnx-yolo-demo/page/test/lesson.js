/**
 * A lesson outside of the worker, whose every step can be repeated in Python:
 * tests/examples/yolo11n/page/test_teaching.py bundles this and calls `window.lesson`.
 */
import * as ort from "onnxruntime-web/webgpu";
import { assetBytes } from "../src/page/assets.js";
import { createLesson } from "../src/teach/teaching.js";
import { base64 } from "./teach.js";

/** The page's runtime, which this bundle has to load again. */
async function startRuntime() {
  const script = document.createElement("script");
  script.src = "demo_assets/runtime.js";
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  const module = new Blob([await assetBytes("runtime-mjs")], { type: "text/javascript" });
  ort.env.wasm.numThreads = 1;
  ort.env.wasm.wasmPaths = { mjs: URL.createObjectURL(module) };
  ort.env.wasm.wasmBinary = await assetBytes("runtime-wasm");
}

/** A picture with squares, and its boxes. */
async function example(squares) {
  const canvas = new OffscreenCanvas(120, 90);
  const context = canvas.getContext("2d");
  context.fillStyle = "rgb(70, 80, 110)";
  context.fillRect(0, 0, 120, 90);
  for (const [colour, x, y, side] of squares) {
    context.fillStyle = colour;
    context.fillRect(x, y, side, side);
  }
  const boxes = squares.map(([label, x1, y1, side]) => {
    return { x1, y1, x2: x1 + side, y2: y1 + side, label };
  });
  return { bitmap: canvas.transferToImageBitmap(), boxes };
}

/** The bytes of a text in base64. */
async function bytesOf(text) {
  const response = await fetch(`data:application/octet-stream;base64,${text}`);
  return new Uint8Array(await response.arrayBuffer());
}

const pack = ({ dims, data, type }) => ({ dims, data: base64(data), dtype: type ?? "float32" });

/** @param {Record<string, string>} assets In base64: "model", and the assets of tools/teaching.py. */
async function lesson(assets, part, steps) {
  if (!ort.env.wasm.wasmBinary) await startRuntime();
  const examples = await Promise.all([
    example([
      ["red", 20, 20, 40],
      ["blue", 80, 50, 25],
    ]),
    example([["red", 60, 30, 50]]),
    example([]),
  ]);
  const learning = await createLesson({
    model: await bytesOf(assets.model),
    step: await bytesOf(assets[`teach-${part}-step`]),
    info: JSON.parse(atob(assets["teach-info"])),
    labels: ["red", "blue"],
    part,
    steps,
    seed: 1,
    examples,
  });
  const record = { first: named(learning.weights()), batches: [], losses: [], last: {} };
  for (let k = 0; k < steps; k++) {
    const feeds = await learning.nextBatch();
    const packed = Object.entries(feeds).map(([name, value]) => [name, pack(value)]);
    record.batches.push(Object.fromEntries(packed));
    record.losses.push(await learning.learn(feeds));
  }
  record.last = named(learning.weights());
  await learning.end();
  return record;
}

const named = (weights) => Object.fromEntries(weights.map((one) => [one.name, pack(one)]));

Object.assign(window, { lesson });
