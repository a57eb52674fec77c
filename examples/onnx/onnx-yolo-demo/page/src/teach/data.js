/**
 * The frames that the user has marked, and the data set that is made of them.
 *
 * @import {Box} from "./teacher.js"
 */

/**
 * @typedef {object} TeachFrame
 * @property {string} title
 * @property {ImageBitmap} bitmap For the screen and for teaching; at most `LONGEST_SIDE` long.
 * @property {Blob} file The picture as it was: JPEG or PNG.
 * @property {Box[]} boxes In pixels of the bitmap.
 */

const LONGEST_SIDE = 1280; // detectors see fewer pixels, and the memory holds many frames
const KEPT_TYPES = ["image/jpeg", "image/png"]; // other kinds become PNG
const VALIDATION_EVERY = 5;
const LEAST_TO_DIVIDE = 10;

/** A picture as PNG. @param {ImageBitmap} bitmap */
function png(bitmap) {
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0);
  return canvas.convertToBlob();
}

/**
 * A frame without boxes.
 * @param {ImageBitmap} bitmap It is taken over.
 * @param {string} title
 * @param {Blob} [original] The file that it was decoded from.
 * @returns {Promise<TeachFrame>}
 */
export async function makeFrame(bitmap, title, original) {
  const keeps = original && KEPT_TYPES.includes(original.type);
  // A file on the disk could be gone when it is wanted.
  const file = keeps
    ? new Blob([await original.arrayBuffer()], { type: original.type })
    : await png(bitmap);
  const ratio = LONGEST_SIDE / Math.max(bitmap.width, bitmap.height);
  if (ratio >= 1) return { title, bitmap, file, boxes: [] };
  const side = (length) => Math.max(Math.round(length * ratio), 1);
  const smaller = await createImageBitmap(bitmap, {
    resizeWidth: side(bitmap.width),
    resizeHeight: side(bitmap.height),
    resizeQuality: "high",
  });
  bitmap.close();
  return { title, bitmap: smaller, file, boxes: [] };
}

/** The labels in the order in which they came up. @param {{boxes: Box[]}[]} frames */
export function labelsOf(frames) {
  return [...new Set(frames.flatMap(({ boxes }) => boxes.map(({ label }) => label)))];
}

/**
 * The frames for training and for validation: all for both, unless there are many enough to take
 * each fifth one for validation and still have every class in both parts.
 * @template {{boxes: Box[]}} Frame
 * @param {Frame[]} frames
 * @returns {{train: Frame[], val: Frame[], divided: boolean}}
 */
export function divide(frames) {
  const train = frames.filter((_, index) => (index + 1) % VALIDATION_EVERY !== 0);
  const val = frames.filter((_, index) => (index + 1) % VALIDATION_EVERY === 0);
  const classes = labelsOf(frames).length;
  const complete = [train, val].every((part) => labelsOf(part).length === classes);
  if (frames.length >= LEAST_TO_DIVIDE && complete) return { train, val, divided: true };
  return { train: frames, val: frames, divided: false };
}

/** A frame's lines of text: the class's number, the centre and the sides as fractions. */
function labelLines({ bitmap: { width, height }, boxes }, names) {
  const lines = boxes.map(({ label, x1, y1, x2, y2 }) => {
    const [x, w] = [(x1 + x2) / 2, x2 - x1].map((pixels) => pixels / width);
    const [y, h] = [(y1 + y2) / 2, y2 - y1].map((pixels) => pixels / height);
    return [names.indexOf(label), ...[x, y, w, h].map((part) => part.toFixed(7))].join(" ");
  });
  return lines.map((line) => `${line}\n`).join("");
}

function readme(names, divided) {
  const quoted = names.map((name) => `'${name.replaceAll("'", `'"'"'`)}'`).join(" ");
  const parts = divided
    ? "Every fifth picture is for validation (images/val), the others for training (images/train)."
    : "All pictures are for training and for validation alike, for they are few: the scores that a\n" +
      "training reports say how well these pictures were learned, not how well others are.";
  return `Pictures and labels from the detection page.

data.yaml names the parts and the classes. The labels of images/.../NAME.jpg are in
labels/.../NAME.txt, a line for each box: number of the class, then centre x, centre y, width and
height as fractions of the picture. An empty file says that there is none of these classes.
${parts}
JPEG and PNG files are as they were opened, with all that a camera noted in them.

To train on it, name the zip as it is:

    python train_yolo11n.py --data THIS.zip --classes ${quoted}
`;
}

/**
 * The files of a data set with text labels, for `zip`.
 * @param {TeachFrame[]} frames Each box has a label.
 * @returns {Promise<{name: string, content: Uint8Array<ArrayBuffer>|string}[]>}
 */
export async function dataSet(frames) {
  const names = labelsOf(frames);
  const { val, divided } = divide(frames);
  // JSON is YAML, too.
  const yaml = [
    `# ${divided ? "Every fifth picture is for validation." : "The same pictures for both parts."}`,
    "train: images/train",
    `val: images/${divided ? "val" : "train"}`,
    `names: ${JSON.stringify(names)}`,
    "",
  ].join("\n");
  const files = frames.map(async (frame, index) => {
    const part = divided && val.includes(frame) ? "val" : "train";
    const stem = `frame-${String(index + 1).padStart(4, "0")}`;
    const ending = frame.file.type === "image/jpeg" ? "jpg" : "png";
    const content = new Uint8Array(await frame.file.arrayBuffer());
    return [
      { name: `images/${part}/${stem}.${ending}`, content },
      { name: `labels/${part}/${stem}.txt`, content: labelLines(frame, names) },
    ];
  });
  return [
    { name: "README.txt", content: readme(names, divided) },
    { name: "data.yaml", content: yaml },
    ...(await Promise.all(files)).flat(),
  ];
}
