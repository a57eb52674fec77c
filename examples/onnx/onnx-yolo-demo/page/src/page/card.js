/**
 * The model's card: what it has seen, whose licence it has, and how well it does.
 *
 * @import {Facts} from "../worker/onnx_read.js"
 */
import { byId } from "./environment.js";
import { decimal, isolate, setText } from "./text.js";

/** @param {string} kind @param {string} text */
function made(kind, text) {
  const element = document.createElement(kind);
  element.textContent = text;
  return element;
}

/** @param {Facts} facts */
export function showCard({ trainedOn = "", licence = "", scores = null }) {
  showOrigin(trainedOn);
  byId("card", "details").hidden = !(trainedOn || licence || scores);
  const facts = { "Has seen": trainedOn, Licence: licence };
  const rows = Object.entries(facts).filter(([, text]) => text);
  byId("card-facts", "dl").replaceChildren(
    ...rows.flatMap(([name, text]) => [made("dt", name), made("dd", text)]),
  );
  byId("card-scores", "table").hidden = !scores;
  const body = byId("card-scores", "table").tBodies[0];
  body.replaceChildren(...Object.entries(scores?.perClass ?? {}).map(scoreRow));
  setText(byId("card-measured"), scores ? `Measured on ${scores.on}.` : "");
}

/** @param {[string, {map50: number, map50_95: number}]} entry Null where there was no such thing. */
function scoreRow([name, { map50, map50_95 }]) {
  const row = document.createElement("tr");
  const head = /** @type {HTMLTableCellElement} */ (made("th", name));
  Object.assign(head, { scope: "row", dir: "auto" });
  row.append(head, ...[map50, map50_95].map((share) => made("td", decimal(share ?? NaN, 3))));
  return row;
}

/** @param {string} trainedOn What the model has seen; "" if nobody knows. */
function showOrigin(trainedOn) {
  byId("model-origin").hidden = !trainedOn;
  const only = " only: of other pictures, such as a camera's, expect little";
  const end = trainedOn === "drawn pictures" ? only : "";
  setText(byId("model-origin"), `This model has learned from ${isolate(trainedOn)}${end}.`);
}
