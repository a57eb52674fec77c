/** The page for everyone: axe-core's rules, names from right to left. */
import axe from "axe-core";
import { detector } from "../onnx.js";
import { byId, check, choose, demo, file, picture, ready, scenarios, until } from "./helpers.js";

/** Look for violations of axe's rules, best practices included. */
async function accept(where) {
  const { violations } = await axe.run(document, { preload: false }); // it would fetch the styles
  const found = violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html}`));
  check(found.length === 0, `axe-core, ${where}:\n${found.join("\n")}\n`);
}

/** The stage's pixels, to be read. */
function pixels(stage) {
  const canvas = new OffscreenCanvas(stage.width, stage.height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(stage, 0, 0);
  return { canvas, context };
}

scenarios({
  async "axe-core finds nothing, in light and dark, with a message, and in the help"() {
    const many = Array.from({ length: 20 }, (_, k) => [4 + 1.2 * k, 16, 3, 3, 0.9, 0]);
    choose("model-file", file(detector({ boxes: many }), "many.onnx"));
    await ready("many.onnx");
    const dark = ["dark.png", "black.png"].map((name) => picture("black", name));
    choose("image-file", ...(await Promise.all(dark)));
    await until(() => demo().last.detections.length === 20, "the boxes");
    for (const card of document.querySelectorAll("details")) card.open = true;
    for (const id of ["count-on", "line-on"]) byId(id).click();
    await until(() => byId("counts").children.length === 1, "the counts");
    choose("compare-file", file(detector({ names: ["חתול", "קטן"], boxes: many }), "קטן.onnx"));
    await until(() => !byId("compare-shown").hidden, "the comparison");
    await accept("one theme");
    byId("theme").click();
    await accept("the other theme");
    byId("help-open").click();
    await accept("the help");
    byId("licences-open").click();
    await until(() => !byId("licences").hidden, "the licences");
    for (const part of ["pytensor-vision developers", "Don McCurdy", "Microsoft", "protobuf"])
      check(byId("licences").value.includes(part), `no licence of ${part}\n`);
    await accept("the licences");
    byId("help-close").click();
    choose("image-file", file("?", "broken.png", "image/png"));
    await until(() => demo().screen, "the message");
    await accept("a message");
    byId("theme").click();
    byId("count-on").click();
    byId("compare-end").click();
  },

  async "a class gets another colour, and readable letters on it"() {
    choose("model-file", file(detector(), "colours.onnx"));
    await ready("colours.onnx");
    await until(() => demo().last.detections.length === 1, "the box");
    const [colour] = byId("class-filter").querySelectorAll("input[type=color]");
    const swatch = byId("detections").querySelector("li");
    const shown = () => swatch.style.getPropertyValue("--class-colour");
    const usual = colour.value;
    const { frames } = demo();
    colour.value = "#fff0a0";
    for (const kind of ["input", "change"])
      colour.dispatchEvent(new Event(kind, { bubbles: true }));
    await until(() => demo().frames > frames && shown() === "#fff0a0", "the colour");
    const { context, canvas } = pixels(byId("stage"));
    const has = (r, g, b) => {
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      return data.some(
        (_, at) => at % 4 === 0 && String(data.slice(at, at + 3)) === `${r},${g},${b}`,
      );
    };
    check(has(255, 240, 160) && has(0, 0, 0), "the label is dark on light");
    byId("colours-reset").click();
    await until(() => shown() === usual, "the usual colour");
    check(colour.value === usual && byId("colours-reset").hidden, "all is as before");
  },

  async "names from right to left"() {
    const names = ["חתול", "قطة"];
    choose("model-file", file(detector({ names }), "names.onnx"));
    await ready("names.onnx");
    await until(() => demo().last.detections.length === 1, "the box");
    const shown = byId("detections").querySelector(".name");
    check(shown.textContent === names[0], "the name");
    check(getComputedStyle(shown).direction === "rtl", "its direction");
    check(byId("status").textContent.includes(`\u2068${names[0]}\u2069`), "it is set apart");
  },
});
