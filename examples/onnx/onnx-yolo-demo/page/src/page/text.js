/** Words and numbers as the page writes them. */

/** Change an element's text only if it differs, to spare the browser the layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {number} score @returns {string} For example "87 %"; above 1 the number, "3.92". */
export function percent(score) {
  return score <= 1 ? `${Math.round(score * 100)} %` : score.toFixed(2);
}

/** @param {number} value @param {number} digits @returns {string} A dash for NaN. */
export function decimal(value, digits) {
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

const MAX_NAMED = 5; // classes in a summary

/**
 * "2 × person, 1 × cell phone", the most frequent first; "nothing" without detections.
 *
 * Names that are written from right to left are kept apart from the numbers around them.
 */
export function summary(detections) {
  const counts = new Map();
  for (const { name } of detections) counts.set(name, (counts.get(name) ?? 0) + 1);
  const ranked = [...counts].sort((a, b) => b[1] - a[1]);
  const parts = ranked.slice(0, MAX_NAMED).map(([name, count]) => `${count} × ${isolate(name)}`);
  const left = ranked.length - parts.length;
  if (left) parts.push(`and ${plural(left, "other class", "other classes")}`);
  return parts.length ? parts.join(", ") + scoresRemark(detections) : "nothing";
}

/**
 * The same to be read out: "2 persons, 1 cell phone".
 *
 * Only words in small letters whose plural is regular in English get one; RBC has none.
 */
export function spoken(detections) {
  const counts = new Map();
  for (const { name } of detections) counts.set(name, (counts.get(name) ?? 0) + 1);
  const parts = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, count]) => {
      if (/^[a-z ]*[a-egi-rt-w]$/.test(name)) return plural(count, name);
      return `${count} × ${isolate(name)}`;
    });
  const left = parts.splice(MAX_NAMED).length;
  if (left) parts.push(`and ${plural(left, "other class", "other classes")}`);
  return parts.join(", ") || "nothing";
}

/** A text of any direction of writing within one of another, by Unicode's isolates where needed. */
export function isolate(text) {
  return /[\u0590-\u08ff\ufb1d-\ufeff]/.test(text) ? `\u2068${text}\u2069` : text;
}

function scoresRemark(detections) {
  if (detections.every(({ score }) => score <= 1)) return "";
  return " (with scores above 1: does the export lack its sigmoid?)";
}

/** A message as a sentence: with a capital letter and a full stop. */
export function sentence(text) {
  const stop = /[.!?…]$/.test(text) ? "" : ".";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${stop}`;
}

/** "1 frame", "2 frames". @param {number} count */
export function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

/** @param {number} seconds @returns {string} For example "1:07". */
export function clock(seconds) {
  return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}
