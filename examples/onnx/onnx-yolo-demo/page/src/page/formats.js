/**
 * What is found in many pictures, as a file: JSON, CSV, or COCO's form of a data set.
 *
 * @import {NamedDetection} from "./drawing.js"
 */

/** @typedef {{x1: number, y1: number, x2: number, y2: number}} Box */
/** @typedef {{width: number, height: number}} Size */

/**
 * A picture and what is in it; corners in its own pixels, upright.
 * @typedef {{title: string, width: number, height: number, detections: NamedDetection[]}} Seen
 */

/** Two digits behind the point are a hundredth of a pixel. */
const rounded = (value) => Math.round(value * 100) / 100;

/**
 * What was found in a picture that was made smaller, in the picture's own pixels.
 * @template {Box} Found
 * @param {Found} found
 * @param {Size} kept Sides that it was seen at, whose proportions may be a little other ones.
 * @param {Size} own
 * @returns {Found}
 */
export function inOwnPixels(found, kept, own) {
  const [across, down] = [own.width / kept.width, own.height / kept.height];
  const { x1, y1, x2, y2 } = found;
  return { ...found, x1: x1 * across, y1: y1 * down, x2: x2 * across, y2: y2 * down };
}

/** @param {Seen[]} pictures @param {object} head What they were seen with. @returns {string} */
export function asJson(pictures, head) {
  return `${JSON.stringify({ ...head, pictures }, null, 2)}\n`;
}

/**
 * Names of which none comes twice: the second "a.png" is "a (2).png".
 * @param {string[]} names
 * @returns {string[]}
 */
export function distinctNames(names) {
  const taken = new Set();
  return names.map((name) => {
    const [, stem, ending] = /^(.*?)(\.[^.]*)?$/s.exec(name) ?? ["", name, ""];
    let distinct = name;
    for (let k = 2; taken.has(distinct) || (distinct !== name && names.includes(distinct)); k++) {
      distinct = `${stem} (${k})${ending ?? ""}`;
    }
    taken.add(distinct);
    return distinct;
  });
}

/** A cell by RFC 4180. */
const cell = (value) => {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A row for each detection. @param {Seen[]} pictures @returns {string} */
export function asCsv(pictures) {
  const rows = pictures.flatMap(({ title, width, height, detections }) =>
    detections.map(({ name, score, x1, y1, x2, y2 }) => {
      return [title, width, height, name, score.toFixed(4), ...[x1, y1, x2, y2].map(rounded)];
    }),
  );
  const head = ["picture", "width", "height", "class", "score", "x1", "y1", "x2", "y2"];
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}

/**
 * @param {Seen[]} pictures
 * @param {string[]} names Of the model's classes.
 * @param {object} info What they were seen with.
 * @returns {string} Ids count from 1; each annotation has its score, too.
 */
export function asCoco(pictures, names, info) {
  const images = pictures.map(({ title, width, height }, index) => {
    return { id: index + 1, file_name: title, width, height };
  });
  const annotations = pictures.flatMap(({ detections }, index) =>
    detections.map(({ classId, score, x1, y1, x2, y2 }) => {
      const [width, height] = [rounded(x2 - x1), rounded(y2 - y1)];
      const place = { image_id: index + 1, category_id: classId + 1 };
      const area = rounded(width * height);
      const bbox = [rounded(x1), rounded(y1), width, height];
      return { ...place, bbox, area, iscrowd: 0, score };
    }),
  );
  const categories = names.map((name, index) => ({ id: index + 1, name }));
  const content = {
    info,
    images,
    annotations: annotations.map((annotation, index) => ({ id: index + 1, ...annotation })),
    categories,
  };
  return `${JSON.stringify(content)}\n`;
}
