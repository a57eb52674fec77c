/**
 * Files that travel inside the page: the runtime, the model, the samples.
 *
 * A page opened from disk may not read the files next to it, except by `<script src>`. So the build
 * writes scripts that call `demoAssets.add(name, text)`; the text is base64 of Zstandard, which packs
 * the runtime a third smaller than gzip, the best that browsers unpack by themselves.
 */
import { failure } from "../worker/failure.js";
import { unpack } from "../worker/unpack.js";

/** @type {Map<string, string>} */
const packed = new Map();

/** @type {Map<string, () => void>} What to do when an asset comes. */
const waiting = new Map();

// The generated scripts are no modules: they find this by its name.
Object.assign(window, {
  demoAssets: {
    add: (/** @type {string} */ name, /** @type {string} */ text) => {
      packed.set(name, text);
      waiting.get(name)?.();
    },
  },
});

/** Do something as soon as an asset is in the page. @param {string} name @param {() => void} task */
export function whenAsset(name, task) {
  waiting.set(name, task);
}

/** @param {string} name @returns {boolean} Whether the asset is in the page. */
export function hasAsset(name) {
  return packed.has(name);
}

/**
 * An asset as it is packed, for a worker to unpack.
 * @param {string} name
 * @returns {string}
 * @throws {Error} `.code` "assets-missing": not in the page.
 */
export function packedText(name) {
  const text = packed.get(name);
  if (!text) throw failure("assets-missing", `the page lacks its asset "${name}"`);
  return text;
}

/**
 * Unpacked bytes of an asset.
 * @param {string} name
 * @returns {Promise<Uint8Array<ArrayBuffer>>} A new array at every call; the caller may transfer it.
 * @throws {Error} `.code` "assets-missing": not in the page, or damaged.
 */
export async function assetBytes(name) {
  const text = packedText(name);
  try {
    return await unpack(text);
  } catch (error) {
    const reason = /** @type {Error} */ (error).message;
    throw failure("assets-missing", `the page's asset "${name}" is damaged (${reason})`);
  }
}

/**
 * Load a script that is next to the page, but isn't loaded at its start.
 * @param {string} address
 * @throws {Error} `.code` "assets-missing": it isn't there.
 */
export async function loadScript(address) {
  const script = document.createElement("script");
  const loaded = new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(failure("assets-missing", `there is no ${address}`));
  });
  script.src = address;
  document.head.append(script);
  await loaded;
}

/**
 * An asset that is JSON.
 * @param {string} name
 * @returns {Promise<any>}
 * @throws {Error} `.code` "assets-missing": not in the page, or damaged.
 */
export async function assetJson(name) {
  return JSON.parse(new TextDecoder().decode(await assetBytes(name)));
}
