/** Words and numbers as the page writes them. */

/** Change an element's text only if it differs, to spare the browser the layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {number} score @returns {string} For example "87 %". */
export function percent(score) {
  return `${Math.round(score * 100)} %`;
}

/** @param {number} value @param {number} digits @returns {string} A dash for NaN. */
export function decimal(value, digits) {
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

/** "2 × person, 1 × cell phone"; "nothing" without detections. */
export function summary(detections) {
  const counts = new Map();
  for (const { name } of detections) counts.set(name, (counts.get(name) ?? 0) + 1);
  const parts = [...counts].map(([name, count]) => `${count} × ${name}`);
  return parts.length ? parts.join(", ") : "nothing";
}

/** A message as a sentence: with a capital letter and a full stop. */
export function sentence(text) {
  const stop = /[.!?…]$/.test(text) ? "" : ".";
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${stop}`;
}
