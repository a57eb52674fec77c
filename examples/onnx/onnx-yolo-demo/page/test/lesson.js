/**
 * A lesson outside of the worker, whose every step can be repeated in Python:
 * tests/examples/yolo11n/page/test_teaching.py bundles this and calls `window.lesson`.
 */
import * as ort from "onnxruntime-web/webgpu";
import { assetBytes, assetJson } from "../src/assets.js";
import { createLesson } from "../src/teaching.js";

/** Load the page's assets into this bundle, too. @param {string[]} files */
async function loadAssets(files) {
  for (const file of files) {
    const script = document.createElement("script");
    script.src = `demo_assets/${file}`;
    const loaded = new Promise((resolve, reject) => {
      script.onload = resolve;
      script.onerror = reject;
    });
    document.head.append(script);
    await loaded;
  }
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

function base64(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 30000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 30000));
  }
  return btoa(text);
}

const pack = ({ dims, data, type }) => ({ dims, data: base64(data), dtype: type ?? "float32" });

async function lesson(part, steps) {
  if (!ort.env.wasm.wasmBinary) {
    await loadAssets(["runtime.js", "model.js"]);
    const module = new Blob([await assetBytes("runtime-mjs")], { type: "text/javascript" });
    ort.env.wasm.numThreads = 1;
    ort.env.wasm.wasmPaths = { mjs: URL.createObjectURL(module) };
    ort.env.wasm.wasmBinary = await assetBytes("runtime-wasm");
  }
  const examples = await Promise.all([
    example([
      ["red", 20, 20, 40],
      ["blue", 80, 50, 25],
    ]),
    example([["red", 60, 30, 50]]),
    example([]),
  ]);
  const learning = await createLesson({
    model: await assetBytes("model"),
    step: await assetBytes(`teach-${part}-step`),
    info: await assetJson("teach-info"),
    labels: ["red", "blue"],
    part,
    steps,
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
