"use strict";

/**
 * Files that travel inside the page: the runtime, the model, the samples.
 *
 * A page opened from disk may not read the files beside it, except by `<script src>`. So the
 * build writes scripts that call `demoAssets.add(name, text)`; the text is base64 of gzip.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoAssets = (() => {
  const packed = new Map();

  function failure(message, cause) {
    return Object.assign(new Error(message, { cause }), { code: "assets-missing" });
  }

  /**
   * Keep one asset; the generated scripts call this.
   * @param {string} name
   * @param {string} base64 Base64 of the gzip-compressed bytes.
   */
  function add(name, base64) {
    packed.set(name, base64);
  }

  /** @param {string} name @returns {boolean} Whether the asset is in the page. */
  function has(name) {
    return packed.has(name);
  }

  /** @returns {string[]} Names of all assets, in the order they were added. */
  function names() {
    return [...packed.keys()];
  }

  /** The decompressed asset as a Response, whose body can be read in several forms. */
  async function unpacked(name) {
    if (!packed.has(name)) {
      throw failure(
        `the page lacks its asset "${name}"; make it with: python -m tools.build_demo MODEL.onnx`,
      );
    }
    // The browser's own base64 decoder: much faster, and outside of the page's memory.
    const compressed = await fetch(`data:application/gzip;base64,${packed.get(name)}`);
    return new Response(compressed.body.pipeThrough(new DecompressionStream("gzip")));
  }

  async function read(name, form) {
    const response = await unpackedOrDamaged(name);
    try {
      return await response[form]();
    } catch (error) {
      throw damaged(name, error);
    }
  }

  async function unpackedOrDamaged(name) {
    try {
      return await unpacked(name);
    } catch (error) {
      throw error.code ? error : damaged(name, error);
    }
  }

  function damaged(name, error) {
    return failure(
      `the page's asset "${name}" is damaged (${error.message}); ` +
        "make it again with: python -m tools.build_demo MODEL.onnx",
      error,
    );
  }

  /**
   * Decompressed bytes of an asset.
   * @param {string} name
   * @returns {Promise<Uint8Array>} A new array at every call; the caller may transfer it.
   * @throws {Error} `.code` "assets-missing": not in the page, or damaged.
   */
  async function bytes(name) {
    return new Uint8Array(await read(name, "arrayBuffer"));
  }

  /**
   * An asset as text.
   * @param {string} name
   * @returns {Promise<string>}
   * @throws {Error} `.code` "assets-missing": not in the page, or damaged.
   */
  function text(name) {
    return read(name, "text");
  }

  /** Forget an asset that nobody needs again. @param {string} name */
  function release(name) {
    packed.delete(name);
  }

  return { add, has, names, text, bytes, release };
})();
