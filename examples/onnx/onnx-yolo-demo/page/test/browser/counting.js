/** The card "Count": numbers over the frames of a film, a line that is moved by keys and pointer. */
import {
  byId,
  check,
  choose,
  demo,
  file,
  framesAfter,
  picture,
  press,
  record,
  scenarios,
  scene,
  until,
} from "./helpers.js";

/** The texts of the table's rows. */
const table = () =>
  [...byId("counts").querySelectorAll("tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent),
  );

function key(id, name, times, shiftKey = false) {
  for (let k = 0; k < times; k++) {
    const options = { key: name, shiftKey, bubbles: true, cancelable: true };
    byId(id).dispatchEvent(new KeyboardEvent("keydown", options));
  }
}

const label = (id) => byId(id).getAttribute("aria-label");

let film = new Blob();

scenarios({
  async "nothing is counted, and films are played in a loop, until it is asked for"() {
    const { stream, end, frames } = scene(false);
    film = await record(stream, () => frames() > 55); // it rests beyond the middle for a second
    end();
    await framesAfter(() => choose("video-file", file(film, "film.webm", "video/webm")));
    check(table().length === 0 && byId("line-a").hidden, "nothing is counted");
    check(/** @type {HTMLVideoElement} */ (byId("feed")).loop, "it is played in a loop");
    press("stop");
  },

  async "the line is placed by keys and by the pointer"() {
    byId("count-card").setAttribute("open", "");
    press("count-on");
    press("line-on");
    check(!byId("line-a").hidden, "its ends are there");
    key("line-a", "ArrowRight", 20);
    key("line-a", "ArrowUp", 40); // no farther than the edge
    key("line-b", "ArrowLeft", 20);
    key("line-b", "ArrowDown", 22, true);
    check(label("line-a").endsWith("50 % from the left, 0 % from the top"), label("line-a"));
    check(label("line-b").endsWith("50 % from the left, 61 % from the top"), label("line-b"));
    const handle = byId("line-b");
    const { left, top } = handle.getBoundingClientRect();
    const stage = byId("stage").getBoundingClientRect();
    const [clientX, clientY] = [left + 14, stage.bottom + 50];
    handle.setPointerCapture = () => {};
    handle.hasPointerCapture = () => true;
    handle.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY, pointerId: 1 }));
    check(label("line-b").endsWith("50 % from the left, 100 % from the top"), label("line-b"));
    check(handle.getBoundingClientRect().top > top, "it is shown there");
    Object.assign(handle, { hasPointerCapture: () => false });
  },

  async "a thing keeps its number, and crosses the line once"() {
    await framesAfter(() => press("start"));
    await until(() => demo().state === "paused", "the end of the film");
    const [head] = byId("counts-head").querySelectorAll("tr");
    const words = [...head.children].map((cell) => cell.textContent.replace(/\s+/g, " ").trim());
    check(words[4] === "→ crossed the line to the right", words.join("; "));
    check(table().join() === "green thing,1,1,0,1", `the counts are ${table()}`);
    check(demo().last.detections[0].number === 1, "it has a number");
    await framesAfter(() => press("start"));
    await until(() => demo().state === "paused", "the end of the film");
    check(table().join() === "green thing,1,1,0,1", `a second time the counts are ${table()}`);
  },

  async "a frame that rests is counted once, whatever is switched off meanwhile"() {
    const look = async (id, times) => {
      for (let k = 0; k < times; k++) {
        const { frames } = demo();
        press(id);
        await until(() => demo().frames > frames, "the frame to be seen again");
      }
    };
    await look("classes-none", 31);
    check(table().join() === "green thing,0,1,0,1", `without classes the counts are ${table()}`);
    await look("classes-all", 4);
    check(table().join() === "green thing,1,1,0,1", `with classes the counts are ${table()}`);
    check(demo().last.detections[0].number === 1, "it has its number again");
  },

  async "a picture has a number of things, which are not followed"() {
    choose("image-file", await picture("black", "dark.png"));
    await until(() => demo().last.title === "dark.png", "the picture");
    check(table().length === 0, "there is nothing");
    press("count-reset");
    press("line-on");
    check(byId("line-a").hidden, "the line is gone");
    press("count-on");
  },
});
