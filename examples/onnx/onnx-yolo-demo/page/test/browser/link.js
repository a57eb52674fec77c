/** The card "Link": what is copied, and what is done with the settings of an address. */
import { detector } from "../onnx.js";
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
  status,
  until,
} from "./helpers.js";

/** Go to the page with these settings. */
async function follow(settings) {
  const { frames } = demo();
  location.hash = settings;
  await until(() => demo().frames > frames, "a detection");
}

let copied = "";

/** Let the page copy, or not. */
function pretendClipboard(allowed) {
  const writeText = async (text) => {
    if (!allowed) throw new DOMException("no", "NotAllowedError");
    copied = text;
  };
  Object.defineProperty(navigator, "clipboard", { value: { writeText }, configurable: true });
}

const value = (id) => /** @type {HTMLInputElement} */ (byId(id)).value;

scenarios({
  async "classes have their own thresholds, which the slider moves together"() {
    const metadata = { thresholds: '{"one": 0.95, "two": 0.2}' };
    const boxes = [
      [8, 8, 12, 12, 0.9, 0],
      [24, 24, 12, 12, 0, 0.3],
    ];
    choose("image-file", await picture("black", "dark.png"));
    choose("model-file", file(detector({ names: ["one", "two"], boxes, metadata }), "own.onnx"));
    await ready("own.onnx");
    const found = () =>
      demo()
        .last.detections.map(({ name }) => name)
        .join();
    const shown = () => {
      const rows = [...byId("class-filter").querySelectorAll(".threshold")];
      return [byId("confidence-value"), ...rows].map((one) => one.textContent).join(" ");
    };
    await until(() => found() === "two", "what is above them");
    check(value("confidence") === "0.2" && shown() === "0.20–0.95 0.95 0.20", shown());
    await follow("confidence=0.1");
    check(found() === "one,two" && shown() === "0.10–0.89 0.89 0.10", shown());
    const { confidence } = demo().last.settings;
    check(confidence.join() === "0.894118,0.1", confidence.join());
    choose("model-file", file(detector({ names: ["one", "two"], boxes }), "same.onnx"));
    await ready("same.onnx");
    await until(() => found() === "one,two", "what is above 0.25");
    check(shown() === "0.25  ", `one number is for both: ${shown()}`);
  },

  async "settings are taken from the address, and bad ones are named"() {
    choose("model-file", file(detector({ names: ["one", "two"] }), "names.onnx"));
    await ready("names.onnx");
    await follow("confidence=0.42&off=two&iou=7&off=cat&threads=3&line=0.5,0,0.5,1");
    check(value("confidence") === "0.42" && value("iou") === "0.45", "the thresholds");
    check(demo().last.settings.enabled.join() === "0", "the classes");
    check(!byId("line-a").hidden, "the line to count at");
    const note = byId("link-note");
    check(
      !note.hidden && /iou=7 \(.*off=cat \(.*threads=3 \(it has 1/.test(note.textContent),
      note.textContent,
    );
    await follow("off=one&count=0");
    check(demo().last.settings.enabled.join() === "1" && byId("line-a").hidden, "another link");
    check(note.hidden, "nothing is wrong with it");
  },

  async "the link that is copied leads to the same settings"() {
    pretendClipboard(true);
    press("link-copy");
    await until(() => copied, "the copy");
    check(status() === "Copied the link." && value("link-text") === copied, "it says so");
    const { href } = location;
    check(copied.startsWith(href.slice(0, href.indexOf("#"))), copied);
    check(copied.endsWith("#confidence=0.42&iou=0.45&backend=auto&off=one"), copied);
    pretendClipboard(false);
    press("link-copy");
    await until(() => status().includes("copy the link out of its field"), "what to do");
    location.hash = "";
  },
});
