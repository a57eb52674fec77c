/** Settings as the page's address holds them, such as "confidence=0.4&off=person&backend=wasm". */

/** @import {Line} from "../count/crossing.js" */

/**
 * What may stand in an address.
 * @typedef {object} Settings
 * @property {number} [confidence]
 * @property {number} [iou]
 * @property {string} [backend]
 * @property {number} [threads]
 * @property {string[]} [off] Names of the classes that don't count.
 * @property {boolean} [far] Whether the built-in model looks for far things.
 * @property {boolean} [count] Whether to count.
 * @property {Line} [line] To count at.
 */

const OTHERS = ["selftest", "proof"]; // what else may stand in an address: see selftest.js, proof.js
const LONGEST = 60; // letters of a bad value that are shown

const number = (text, least, most) => {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  return value >= least && value <= most ? value : undefined;
};

function readLine(text) {
  const shares = text.split(",").map((share) => number(share, 0, 1));
  if (shares.length !== 4 || shares.includes(undefined)) return undefined;
  const [ax, ay, bx, by] = /** @type {number[]} */ (shares);
  return { a: { x: ax, y: ay }, b: { x: bx, y: by } };
}

const writeLine = ({ a, b }) => [a.x, a.y, b.x, b.y].map((share) => share.toFixed(3)).join(",");

const yesOrNo = {
  read: (text) => (["0", "1"].includes(text) ? text === "1" : undefined),
  needed: "0 or 1",
};

/** How the texts of settings are read; undefined is for those that don't do. */
const READERS = {
  confidence: { read: (text) => number(text, 0.01, 0.99), needed: "a number from 0.01 to 0.99" },
  iou: { read: (text) => number(text, 0.01, 0.99), needed: "a number from 0.01 to 0.99" },
  backend: {
    read: (text) => ["auto", "webgpu", "wasm"].find((name) => name === text),
    needed: "auto, webgpu or wasm",
  },
  threads: {
    read: (text) => (/^[1-9]\d?$/.test(text) ? Number(text) : undefined),
    needed: "a whole number from 1 to 99",
  },
  far: yesOrNo,
  count: yesOrNo,
  line: { read: readLine, needed: "four numbers from 0 to 1" },
};

/**
 * @param {URLSearchParams} address Of two values of a setting, the first one counts.
 * @param {string[]} names Of the model's classes.
 * @returns {{settings: Settings, bad: string[]}} `bad` names what cannot be used, and why.
 */
export function readSettings(address, names) {
  /** @type {Record<string, any>} */
  const settings = {};
  /** @type {string[]} */
  const bad = [];
  for (const key of new Set(address.keys())) {
    if (key === "off" || OTHERS.includes(key)) continue;
    const text = address.get(key) ?? "";
    const value = Object.hasOwn(READERS, key) ? READERS[key].read(text) : undefined;
    const why = Object.hasOwn(READERS, key) ? `needed: ${READERS[key].needed}` : "no such setting";
    if (value === undefined) bad.push(`${key}=${text}`.slice(0, LONGEST).concat(` (${why})`));
    else settings[key] = value;
  }
  const off = address.getAll("off");
  if (off.length) settings.off = off.filter((name) => names.includes(name));
  for (const name of off) {
    if (!names.includes(name))
      bad.push(`off=${name.slice(0, LONGEST)} (the model has no such class)`);
  }
  return { settings, bad };
}

/** @param {Settings} settings @returns {string} What `readSettings` reads. */
export function writeSettings({ off = [], far, count, line, ...simple }) {
  const address = new URLSearchParams();
  for (const [key, value] of Object.entries(simple)) {
    if (value !== undefined) address.set(key, String(value));
  }
  if (far) address.set("far", "1");
  if (count) address.set("count", "1");
  if (line) address.set("line", writeLine(line));
  for (const name of off) address.append("off", name);
  return String(address);
}
