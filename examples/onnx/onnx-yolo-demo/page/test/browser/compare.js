/** The card "Compare": two models on one picture, their boxes and numbers, and one that fails. */
import { constant, detector, node } from "../onnx.js";
import {
  byId,
  check,
  choose,
  demo,
  file,
  picture,
  press,
  ready,
  scenarios,
  sleep,
  until,
} from "./helpers.js";

/** The texts of the table of models. */
const table = () =>
  [...byId("compare-rows").querySelectorAll("tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );

/** Choose a second model, and wait for its numbers, or for what is said against it. */
async function compareWith(bytes, name) {
  choose("compare-file", file(bytes, name));
  const note = byId("compare-note");
  await until(() => table()[1][0] === name || note.textContent.includes(name), "an answer");
}

/** The colour of a place of the stage, given in shares. */
function colourAt(x, y) {
  const stage = /** @type {HTMLCanvasElement} */ (byId("stage"));
  const context = new OffscreenCanvas(stage.width, stage.height).getContext("2d");
  context.drawImage(stage, 0, 0);
  return context
    .getImageData(x * stage.width, y * stage.height, 1, 1)
    .data.slice(0, 3)
    .join();
}

const divide = (value) => {
  const slider = /** @type {HTMLInputElement} */ (byId("divide"));
  slider.value = String(value);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
};

const NAMES = ["one", "two"];
const FIRST = [
  [8, 16, 8, 20, 0.9, 0],
  [24, 16, 8, 20, 0.8, 0],
];
// One is where the first model's is, one is of another class.
const SECOND = [
  [8, 17, 8, 20, 0.7, 0],
  [24, 16, 8, 20, 0, 0.9],
];

scenarios({
  async "two models see one picture"() {
    byId("compare-card").setAttribute("open", "");
    choose("image-file", await picture("black", "dark.png", 320, 320));
    choose("model-file", file(detector({ names: NAMES, boxes: FIRST }), "first.onnx"));
    await ready("first.onnx");
    await compareWith(detector({ names: NAMES, boxes: SECOND }), "second.onnx");
    const [first, second] = table();
    check(first.slice(0, 2).join() === "first.onnx,2" && Number(first[2]) >= 0, first.join());
    check(second.slice(0, 2).join() === "second.onnx,2" && Number(second[2]) >= 0, second.join());
    check(byId("compare-agree").textContent.startsWith("Boxes that agree: 1 "), "how many agree");
  },

  async "the divide shows the one's boxes or the other's"() {
    // The right edge of the right box, which has the first class's colour, or the second's.
    const edge = () => colourAt(28 / 32, 0.5);
    divide(100);
    const one = edge();
    divide(0);
    const other = edge();
    check(one !== other && one !== "0,0,0" && other !== "0,0,0", `${one} and ${other}`);
    divide(50);
    check(edge() === other, "the right half is the second model's");
  },

  async "classes that are switched off are so for both; a broken model is refused"() {
    const [, two] = /** @type {any} */ (byId("class-filter").querySelectorAll("[type=checkbox]"));
    two.click();
    await until(() => table()[1][1] === "1", "one box less");
    two.click();
    await until(() => table()[1][1] === "2", "all boxes");
    await compareWith(new Uint8Array([1, 2]), "broken.onnx");
    check(byId("compare-note").textContent.startsWith("File broken.onnx:"), "it says so");
    check(demo().screen === null && table()[1][0] === "second.onnx", "all goes on");
  },

  async "a second model that fails on a picture ends the comparison alone"() {
    const bright = detector({
      names: NAMES,
      change({ nodes, constants }) {
        constants.push(constant("grey", [1], Float32Array.of(0.6)));
        nodes.push(node("Sub", ["grey", "mean"], ["rest"]), node("Log", ["rest"], ["log"]));
        constants.push(constant("none", [1], new Float32Array(1)));
        nodes.push(node("Mul", ["log", "none"], ["more"]));
      },
    });
    await compareWith(bright, "nan.onnx");
    check(table()[1][0] === "nan.onnx", "it is compared with");
    choose("image-file", await picture("white", "bright.png"));
    await until(() => demo().last.title === "bright.png", "the first model's boxes");
    check(/nan\.onnx.*NaN/.test(byId("compare-note").textContent), "it says why");
    check(demo().last.detections.length === 2 && byId("compare-shown").hidden, "the first goes on");
  },

  async "the comparison ends when it is told to"() {
    await compareWith(detector({ names: NAMES, boxes: SECOND }), "second.onnx");
    check(!byId("compare-shown").hidden && byId("compare-note").hidden, "it is there again");
    press("compare-end");
    await sleep(50);
    check(
      byId("compare-shown").hidden && document.activeElement.id === "compare-file",
      "it is over",
    );
  },
});
