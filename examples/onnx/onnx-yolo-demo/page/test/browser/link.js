/** The card "Link": what is copied, and what is done with the settings of an address. */
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
