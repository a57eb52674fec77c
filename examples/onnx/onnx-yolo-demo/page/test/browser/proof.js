/** Links that hold what a page sees: a page with the same model and picture compares. */
import { readProof, writeProof } from "../../src/page/proof.js";
import { detector } from "../onnx.js";
import {
  byId,
  check,
  choose,
  demo,
  file,
  press,
  ready,
  scenarios,
  status,
  until,
} from "./helpers.js";

const field = () => /** @type {HTMLInputElement} */ (byId("link-text"));
const said = () => (byId("proof-note").hidden ? "" : byId("proof-note").textContent);

/** A picture file with a green square, which the detector of colours finds. */
async function green(x, name) {
  const canvas = new OffscreenCanvas(320, 240);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = "#46506e";
  context.fillRect(0, 0, 320, 240);
  context.fillStyle = "#00dc28";
  context.fillRect(x, 50, 70, 70);
  return file(await canvas.convertToBlob(), name, "image/png");
}

async function show(picture) {
  const { frames } = demo();
  choose("image-file", picture);
  await until(() => demo().frames > frames, "the picture");
}

/** Wait for what the page says of the link. */
const saying = (words) => until(() => said().includes(words), `"${words}" instead of "${said()}"`);

let link = "";

scenarios({
  async "a proof is read as it was written, and none that is cut off"() {
    const hash = "aZ-_".repeat(11).slice(1);
    for (const boxes of [[], [1.5, 2.25, 300, 400, 0.875, 1]]) {
      const text = writeProof({ model: hash, picture: hash, boxes: Float32Array.from(boxes) });
      check(/^[\w.-]+$/.test(text), text);
      check(readProof(text)?.boxes.join() === boxes.join(), "the boxes");
      for (const cut of [text.slice(1), text.slice(0, -5), `${text}!`, `${text}AAAA`, ""]) {
        check(readProof(cut) === null, `"${cut}" is no proof`);
      }
    }
  },

  async "the same picture and model: the same boxes"() {
    await show(await green(55, "green.png"));
    check(demo().last.detections.length === 1, "a box");
    press("proof-copy");
    await until(() => field().value.includes("&proof="), "the link");
    link = field().value;
    location.hash = link.slice(link.indexOf("#"));
    await saying("both pages see the same, largest difference 0.0 px");
    check(byId("link-note").hidden, "nothing is wrong with the settings");
  },

  async "another picture, other boxes, another model"() {
    await show(await green(120, "other.png"));
    await saying("in another picture");
    await show(await green(55, "green again.png"));
    await saying("both pages see the same");
    const confidence = /** @type {HTMLInputElement} */ (byId("confidence"));
    confidence.value = "0.99";
    confidence.dispatchEvent(new Event("input"));
    await saying("0 boxes here: they are not the same boxes");
    choose("model-file", file(detector({ names: ["one", "two"] }), "names.onnx"));
    await ready("names.onnx");
    await saying("of another model");
    press("model-builtin");
    await ready("built-in model");
    await saying("both pages see the same");
  },

  async "a damaged proof is named; what is from no file has none"() {
    location.hash = `${link.slice(link.indexOf("#"))}AA`;
    await until(() => byId("link-note").textContent.includes("proof (it is cut off"), "the note");
    await until(() => said() === "", "that nothing is compared");
    await demo().detectImage(await createImageBitmap(new ImageData(64, 64)));
    press("proof-copy");
    await until(() => status().includes("Show a picture from a file first"), "what to do");
    location.hash = "";
    await until(() => byId("link-note").hidden, "no link");
  },
});
