/** The colours of classes, on the stage and in the lists: the user's choice, or the page's. */

const FIXED = new Map([
  ["person", "#28be46"],
  ["cell phone", "#ff8c00"],
]);
const PALETTE = [
  "#2f8bff",
  "#e6323c",
  "#a65ce0",
  "#00b4be",
  "#f05aaa",
  "#b8a400",
  "#7c8cff",
  "#d9683c",
  "#c04fd0",
  "#3fa0c8",
  "#e87f9a",
  "#8f9a3c",
];

/** @type {Map<string, string>} */
const chosen = new Map(); // by the names of classes

/** @param {string} name Of the class. @param {string} colour "#rrggbb" */
export function chooseColour(name, colour) {
  chosen.set(name, colour);
}

/** Forget the user's choices. */
export function resetColours() {
  chosen.clear();
}

/**
 * @param {string} name Of the class.
 * @param {number} classId
 * @returns {string} A colour "#rrggbb"; the same one for the same class until the user chooses another.
 */
export function classColour(name, classId) {
  return chosen.get(name) ?? FIXED.get(name) ?? PALETTE[classId % PALETTE.length];
}

/** Dark or light letters on a colour "#rrggbb", whichever have more contrast (WCAG 2.1). */
export function inkOn(colour) {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  // Black and white contrast equally where (L + 0.05)² = 1.05 * 0.05.
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#000000" : "#ffffff";
}
