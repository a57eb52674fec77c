/**
 * Teaching as a script outside of the page asks for it: tests/examples/yolo11n/page/test_teaching.py
 * and benchmarks/page/teaching.py bundle this and call `window.teach` and `window.savedModel`.
 */

/** Numbers as base64. @param {ArrayBufferView} values */
export function base64(values) {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  let text = "";
  for (let at = 0; at < bytes.length; at += 30000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 30000));
  }
  return btoa(text);
}

/** A frame whose picture is a data: address. */
async function decode({ url, boxes }) {
  const blob = await (await fetch(url)).blob();
  return { bitmap: await createImageBitmap(blob), boxes };
}

/** Teach the page's model; what became of it, the losses, and when each step was done, in seconds. */
async function teach(frames, options) {
  const examples = await Promise.all(frames.map(decode));
  const [losses, times] = [[], []];
  const onStep = ({ loss }) => {
    losses.push(loss);
    times.push(performance.now() / 1000);
  };
  const teacher = await window.demo.openTeacher();
  const outcome = await teacher.teach({ examples, onStep, ...options });
  return { ...outcome, losses, times };
}

const savedModel = async () => base64(await (await window.demo.openTeacher()).save());

Object.assign(window, { teach, savedModel });
