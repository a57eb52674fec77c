/** Unpacking what the build has packed: base64 of Zstandard. */
import { ZSTDDecoder } from "zstddec";

/** @param {string} text @returns {Promise<Uint8Array>} */
async function decode(text) {
  // At once; older browsers answer a page only after they have read all of it.
  if ("fromBase64" in Uint8Array) return /** @type {any} */ (Uint8Array).fromBase64(text);
  const answer = await fetch(`data:application/zstd;base64,${text}`);
  return new Uint8Array(await answer.arrayBuffer());
}

/**
 * @param {string} text
 * @returns {Promise<Uint8Array<ArrayBuffer>>} A new array; the caller may transfer it.
 * @throws {Error} If it is damaged.
 */
export async function unpack(text) {
  const decoder = new ZSTDDecoder();
  const [packed] = await Promise.all([decode(text), decoder.init()]);
  const bytes = decoder.decode(packed);
  // What it can't decode, it makes nothing of.
  if (!bytes.length) throw new Error("it is no Zstandard");
  return /** @type {Uint8Array<ArrayBuffer>} */ (bytes);
}
