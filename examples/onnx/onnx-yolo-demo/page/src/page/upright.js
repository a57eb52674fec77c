/**
 * WebP pictures whose EXIF data turn them: many browsers show them as they are stored.
 *
 * Pictures of other kinds are turned by the browser.
 */

const ORIENTATION = 0x0112; // EXIF tag
const CHUNK_HEAD = 8;
const MOST_EXIF = 1 << 20; // bytes

// WebP of 2 x 1 pixels that is to be turned by 90 degrees.
const PROBE =
  "UklGRk4AAABXRUJQVlA4WAoAAAAIAAAAAQAAAAAAVlA4TA4AAAAvAQAAAAcQEf0PRET/A0VYSUYaAAAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAA=";

/** @type {Promise<boolean>|null} */
let turning = null;

/** Whether this browser turns WebP pictures itself. */
function browserTurns() {
  turning ??= (async () => {
    const bytes = Uint8Array.from(atob(PROBE), (letter) => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: "image/webp" }));
    const turned = bitmap.width < bitmap.height;
    bitmap.close();
    return turned;
  })();
  return turning;
}

/**
 * The orientation that EXIF data say.
 * @param {DataView} exif A TIFF header and its first directory, perhaps behind "Exif\0\0".
 * @returns {number} From 1, upright, to 8; 1 if they say none.
 */
export function exifOrientation(exif) {
  const start = exif.byteLength > 6 && exif.getUint32(0) === 0x45786966 ? 6 : 0;
  if (exif.byteLength < start + 8) return 1;
  const little = exif.getUint16(start) === 0x4949;
  const directory = start + exif.getUint32(start + 4, little);
  if (directory + 2 > exif.byteLength) return 1;
  const count = exif.getUint16(directory, little);
  for (let k = 0; k < count; k++) {
    const entry = directory + 2 + 12 * k;
    if (entry + 12 > exif.byteLength) return 1;
    if (exif.getUint16(entry, little) !== ORIENTATION) continue;
    const value = exif.getUint16(entry + 8, little);
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
}

/** @param {Blob} blob @returns {Promise<number>} As `exifOrientation`; 1 of all but WebP. */
export async function webpOrientation(blob) {
  const read = async (from, bytes) =>
    new DataView(await blob.slice(from, from + bytes).arrayBuffer());
  const head = await read(0, 12);
  const isWebp =
    head.byteLength === 12 && head.getUint32(0) === 0x52494646 && head.getUint32(8) === 0x57454250;
  for (let at = 12; isWebp && at + CHUNK_HEAD <= blob.size; ) {
    const chunk = await read(at, CHUNK_HEAD);
    const size = chunk.getUint32(4, true);
    if (chunk.getUint32(0) === 0x45584946) {
      return exifOrientation(await read(at + CHUNK_HEAD, Math.min(size, MOST_EXIF)));
    }
    at += CHUNK_HEAD + size + (size % 2);
  }
  return 1;
}

/**
 * How a picture still has to be turned after the browser has decoded it.
 * @param {Blob} blob
 * @returns {Promise<number>} An EXIF orientation.
 */
export async function missingTurn(blob) {
  const orientation = await webpOrientation(blob);
  return orientation === 1 || (await browserTurns()) ? 1 : orientation;
}

/**
 * The transformation of a canvas that makes a picture upright.
 * @param {number} orientation Of EXIF.
 * @param {number} width Of the picture as it is stored.
 * @param {number} height
 * @returns {[number, number, number, number, number, number]}
 */
export function uprightTransform(orientation, width, height) {
  /** @type {[number, number, number, number, number, number][]} */
  const transforms = [
    [1, 0, 0, 1, 0, 0],
    [-1, 0, 0, 1, width, 0],
    [-1, 0, 0, -1, width, height],
    [1, 0, 0, -1, 0, height],
    [0, 1, 1, 0, 0, 0],
    [0, 1, -1, 0, height, 0],
    [0, -1, -1, 0, height, width],
    [0, -1, 1, 0, 0, width],
  ];
  return transforms[orientation - 1];
}

/**
 * Turn a picture upright.
 * @param {ImageBitmap} bitmap It is closed if another one is made.
 * @param {number} orientation Of EXIF.
 * @returns {ImageBitmap}
 */
export function turned(bitmap, orientation) {
  if (orientation === 1) return bitmap;
  const { width, height } = bitmap;
  const lies = orientation > 4;
  const canvas = new OffscreenCanvas(lies ? height : width, lies ? width : height);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(...uprightTransform(orientation, width, height));
  context.drawImage(bitmap, 0, 0);
  bitmap.close();
  return canvas.transferToImageBitmap();
}
