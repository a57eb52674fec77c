// Runs every model of a folder with onnxruntime-web (WebAssembly) and writes what comes out.
//   node run_models.mjs FOLDER
// FOLDER holds NAME.onnx and NAME.json ({inputs: {name: {type, dims, data (base64)}}}); the result
// is FOLDER/results.json: NAME -> {name: {type, dims, data}}, or {error}.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ort from 'onnxruntime-web';

ort.env.logLevel = 'error';
ort.env.wasm.numThreads = 1;

const ARRAYS = {
  bool: Uint8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
  float32: Float32Array, float64: Float64Array,
};

function decode({ type, dims, data }) {
  const bytes = Uint8Array.from(Buffer.from(data, 'base64'));
  return new ort.Tensor(type, new ARRAYS[type](bytes.buffer), dims);
}

function encode({ type, dims, data }) {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return { type, dims, data: bytes.toString('base64') };
}

const folder = process.argv[2];
const results = {};
for (const file of readdirSync(folder).filter((name) => name.endsWith('.onnx')).sort()) {
  const name = file.slice(0, -'.onnx'.length);
  const { inputs } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8'));
  const feeds = Object.fromEntries(Object.entries(inputs).map(([key, v]) => [key, decode(v)]));
  try {
    const session = await ort.InferenceSession.create(readFileSync(join(folder, file)));
    const outputs = await session.run(feeds);
    results[name] = Object.fromEntries(Object.entries(outputs).map(([key, v]) => [key, encode(v)]));
    await session.release();
  } catch (error) {
    results[name] = { error: String(error.message ?? error) };
  }
}
writeFileSync(join(folder, 'results.json'), JSON.stringify(results));
console.log(`${Object.keys(results).length} models, onnxruntime-web ${ort.env.versions.web}`);
