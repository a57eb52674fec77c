/**
 * Files that travel inside the page: the runtime, the model, the samples.
 *
 * A page opened from disk may not read the files beside it, except by `<script src>`. So the build
 * writes scripts that call `demoAssets.add(name, text)`; the text is base64 of gzip.
 */
import { failure } from "./failure.js";

/** @type {Map<string, string>} */
const packed = new Map();

// The generated scripts are no modules: they find this by its name.
Object.assign(window, {
  demoAssets: {
    add: (/** @type {string} */ name, /** @type {string} */ text) => packed.set(name, text),
  },
});

/** @param {string} name @returns {boolean} Whether the asset is in the page. */
export function hasAsset(name) {
  return packed.has(name);
}

/** @param {string} name @returns {Promise<ArrayBuffer>} The decompressed bytes. */
async function read(name) {
  if (!packed.has(name)) {
    throw failure("assets-missing", `the page lacks its asset "${name}"`);
  }
  try {
    // The browser's own base64 decoder: much faster, and outside of the page's memory.
    const compressed = await fetch(`data:application/gzip;base64,${packed.get(name)}`);
    const stream = /** @type {ReadableStream} */ (compressed.body);
    return await new Response(stream.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    throw failure("assets-missing", `the page's asset "${name}" is damaged (${reason})`);
  }
}

/**
 * Decompressed bytes of an asset.
 * @param {string} name
 * @returns {Promise<Uint8Array<ArrayBuffer>>} A new array at every call; the caller may transfer it.
 * @throws {Error} `.code` "assets-missing": not in the page, or damaged.
 */
export async function assetBytes(name) {
  return new Uint8Array(await read(name));
}

/**
 * An asset that is JSON.
 * @param {string} name
 * @returns {Promise<any>}
 * @throws {Error} `.code` "assets-missing": not in the page, or damaged.
 */
export async function assetJson(name) {
  return JSON.parse(new TextDecoder().decode(await read(name)));
}
