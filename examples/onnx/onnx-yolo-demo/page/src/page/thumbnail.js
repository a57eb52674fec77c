/** Small pictures of larger ones. */

/**
 * Draw a picture small, in its proportions.
 * @param {HTMLCanvasElement} canvas It keeps its size; what is left of it stays as it is.
 * @param {ImageBitmap} bitmap
 */
export function drawSmall(canvas, bitmap) {
  const scale = Math.min(canvas.width / bitmap.width, canvas.height / bitmap.height);
  const [width, height] = [bitmap.width * scale, bitmap.height * scale];
  const [x, y] = [(canvas.width - width) / 2, (canvas.height - height) / 2];
  canvas.getContext("2d")?.drawImage(bitmap, x, y, width, height);
}
