/**
 * What is found in many pictures, as a file: JSON, CSV, or COCO's form of a data set.
 *
 * @import {NamedDetection} from "./drawing.js"
 */

/**
 * A picture and what is in it; corners in its own pixels, upright.
 * @typedef {{title: string, width: number, height: number, detections: NamedDetection[]}} Seen
 */

/** Two digits behind the point are a hundredth of a pixel. */
const rounded = (value) => Math.round(value * 100) / 100;

/** @param {Seen[]} pictures @param {object} head What they were seen with. @returns {string} */
export function asJson(pictures, head) {
  return `${JSON.stringify({ ...head, pictures }, null, 2)}\n`;
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
