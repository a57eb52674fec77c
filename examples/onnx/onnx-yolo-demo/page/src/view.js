"use strict";

/** What the page shows: the stage, the chart, the times, the lists. */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
const demoView = (() => {
  const FIXED_COLOURS = { person: "#28be46", "cell phone": "#ff8c00" };
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
  const LABEL_FONT = '600 {size}px system-ui, -apple-system, "Segoe UI", sans-serif';
  // Canvases beyond this fail on some phones.
  const MAX_STAGE_SIDE = 4096;
  const MAX_STAGE_SCALE = 3;
  const MEDIAN_FRAMES = 30;
  const CHART_FRAMES = 120;
  const CHART_LINE_MS = 33;
  const MAX_LIST_ROWS = 50;

  /**
   * @param {string} name Of the class.
   * @param {number} classId
   * @returns {string} A CSS colour; the same one for the same class at all times.
   */
  function classColour(name, classId) {
    // Own: a model may call a class "constructor".
    return Object.hasOwn(FIXED_COLOURS, name)
      ? FIXED_COLOURS[name]
      : PALETTE[classId % PALETTE.length];
  }

  /** Change an element's text only if it differs, to spare the browser the layout. */
  function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
  }

  /** @param {number} score @returns {string} For example "87 %". */
  function percent(score) {
    return `${Math.round(score * 100)} %`;
  }

  /** Dark or light letters on a colour "#rrggbb", whichever have more contrast (WCAG 2.1). */
  function inkOn(colour) {
    const [r, g, b] = [1, 3, 5].map((at) => {
      const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    // Black and white contrast alike where (L + 0.05)² = 1.05 * 0.05.
    return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? "#101317" : "#ffffff";
  }

  /** The picture with its boxes. */
  class StageView {
    #canvas;
    #context;
    #frame;

    /**
     * @param {HTMLCanvasElement} canvas
     * @param {HTMLElement} frame The element whose size the picture is fitted into.
     */
    constructor(canvas, frame) {
      this.#canvas = canvas;
      this.#frame = frame;
      this.#context = canvas.getContext("2d");
      /** Stage pixels per pixel of the picture. */
      this.scale = 1;
    }

    /**
     * Show a picture, and boxes on it.
     * @param {ImageBitmap} bitmap
     * @param {{x1: number, y1: number, x2: number, y2: number, score: number, classId: number,
     *   name: string}[]} detections In pixels of the bitmap.
     * @param {boolean} mirrored Show the picture as a mirror does; the letters stay readable.
     */
    draw(bitmap, detections, mirrored) {
      this.#fit(bitmap);
      const { width, height } = this.#canvas;
      const context = this.#context;
      context.setTransform(mirrored ? -1 : 1, 0, 0, 1, mirrored ? width : 0, 0);
      context.drawImage(bitmap, 0, 0, width, height);
      context.setTransform(1, 0, 0, 1, 0, 0);
      const unit = this.#screenPixel();
      // Best last, so that no other box covers it.
      for (let index = detections.length - 1; index >= 0; index -= 1) {
        this.#box(detections[index], mirrored, unit);
      }
    }

    /** Small pictures get a larger stage, or their letters would be blurred. */
    #fit(bitmap) {
      const shown = this.#frame.clientWidth * devicePixelRatio;
      const larger = Math.min(Math.max(Math.round(shown / bitmap.width), 1), MAX_STAGE_SCALE);
      const limit = MAX_STAGE_SIDE / Math.max(bitmap.width, bitmap.height);
      this.scale = Math.min(larger, limit >= 1 ? Math.floor(limit) : limit);
      const width = Math.max(1, Math.round(bitmap.width * this.scale));
      const height = Math.max(1, Math.round(bitmap.height * this.scale));
      if (this.#canvas.width !== width) this.#canvas.width = width;
      if (this.#canvas.height !== height) this.#canvas.height = height;
    }

    /** Stage pixels per pixel of the page, so that letters are as large as the page's. */
    #screenPixel() {
      const { width, height } = this.#canvas;
      const { clientWidth, clientHeight } = this.#frame;
      if (!clientWidth || !clientHeight) return 1;
      return Math.max(width / clientWidth, height / clientHeight);
    }

    #box(detection, mirrored, unit) {
      const { width } = this.#canvas;
      const left = mirrored ? width - detection.x2 * this.scale : detection.x1 * this.scale;
      const top = detection.y1 * this.scale;
      const boxWidth = (detection.x2 - detection.x1) * this.scale;
      const boxHeight = (detection.y2 - detection.y1) * this.scale;
      const colour = classColour(detection.name, detection.classId);
      const context = this.#context;
      context.lineJoin = "round";
      context.lineWidth = Math.max(2, 2.5 * unit);
      context.strokeStyle = colour;
      context.strokeRect(left, top, boxWidth, boxHeight);
      this.#label(`${detection.name} ${percent(detection.score)}`, left, top, colour, unit);
    }

    #label(text, left, top, colour, unit) {
      const context = this.#context;
      const size = Math.max(9, Math.round(13 * unit));
      const pad = size * 0.35;
      context.font = LABEL_FONT.replace("{size}", size);
      context.textBaseline = "middle";
      const width = context.measureText(text).width + 2 * pad;
      const height = size * 1.5;
      const edge = context.lineWidth / 2;
      const x = Math.max(0, Math.min(left - edge, this.#canvas.width - width));
      // Above the box; inside of it where the picture ends.
      const y = top - height >= 0 ? top - height : Math.max(0, top);
      context.fillStyle = colour;
      context.fillRect(x, y, width, height);
      context.fillStyle = inkOn(colour);
      context.fillText(text, x + pad, y + height / 2);
    }

    /** @returns {Promise<Blob>} The stage as PNG, boxes included. */
    snapshot() {
      return new Promise((resolve, reject) => {
        this.#canvas.toBlob(
          (blob) => (blob ? resolve(blob) : reject(new Error("the stage gives no PNG"))),
          "image/png",
        );
      });
    }
  }

  /** Medians over the last frames, and frames per second of the whole loop. */
  class FrameTimes {
    #rings = {
      pre: new Float64Array(MEDIAN_FRAMES),
      inference: new Float64Array(MEDIAN_FRAMES),
      post: new Float64Array(MEDIAN_FRAMES),
    };
    #scratch = new Float64Array(MEDIAN_FRAMES);
    #ends = new Float64Array(MEDIAN_FRAMES);
    #frames = 0;
    #inARow = 0;

    /**
     * @param {{pre: number, inference: number, post: number}} times Milliseconds.
     * @param {number} end When the frame was on the stage, by performance.now().
     */
    push(times, end) {
      const at = this.#frames % MEDIAN_FRAMES;
      for (const [name, ring] of Object.entries(this.#rings)) ring[at] = times[name];
      this.#ends[this.#inARow % MEDIAN_FRAMES] = end;
      this.#frames += 1;
      this.#inARow += 1;
    }

    /** Forget the frame rate, as after a pause. */
    restart() {
      this.#inARow = 0;
    }

    clear() {
      this.#frames = 0;
      this.#inARow = 0;
    }

    /**
     * @param {"pre"|"inference"|"post"} name
     * @returns {number} Milliseconds; NaN without frames.
     */
    median(name) {
      const count = Math.min(this.#frames, MEDIAN_FRAMES);
      if (count === 0) return Number.NaN;
      const sorted = this.#scratch.subarray(0, count);
      sorted.set(this.#rings[name].subarray(0, count));
      sorted.sort();
      return (sorted[(count - 1) >> 1] + sorted[count >> 1]) / 2;
    }

    /** @returns {number} Over at most the last 30 frames; NaN before the second one. */
    fps() {
      const count = Math.min(this.#inARow, MEDIAN_FRAMES);
      if (count < 2) return Number.NaN;
      const last = this.#ends[(this.#inARow - 1) % MEDIAN_FRAMES];
      const first = this.#ends[(this.#inARow - count) % MEDIAN_FRAMES];
      return (1000 * (count - 1)) / (last - first);
    }
  }

  /** Milliseconds of the last frames, stacked, with a line at 33 ms. */
  class TimeChart {
    #canvas;
    #context;
    #times = new Float32Array(3 * CHART_FRAMES);
    #count = 0;
    #colours = null;

    constructor(canvas) {
      this.#canvas = canvas;
      this.#context = canvas.getContext("2d");
      new ResizeObserver(() => this.draw()).observe(canvas);
    }

    /** Read the colours of the page's theme again. */
    restyle() {
      this.#colours = null;
      this.draw();
    }

    clear() {
      this.#count = 0;
      this.draw();
    }

    /** @param {{pre: number, inference: number, post: number}} times Milliseconds. */
    push(times) {
      const at = 3 * (this.#count % CHART_FRAMES);
      this.#times[at] = times.pre;
      this.#times[at + 1] = times.inference;
      this.#times[at + 2] = times.post;
      this.#count += 1;
      this.draw();
    }

    draw() {
      const { clientWidth, clientHeight } = this.#canvas;
      if (clientWidth === 0) return;
      this.#resize(clientWidth, clientHeight);
      this.#colours ??= this.#themeColours();
      const context = this.#context;
      context.clearRect(0, 0, clientWidth, clientHeight);
      const top = this.#top();
      this.#bars(clientWidth, clientHeight, top);
      this.#line(clientWidth, clientHeight, top);
    }

    #resize(width, height) {
      const sharp = devicePixelRatio;
      const pixelWidth = Math.round(width * sharp);
      const pixelHeight = Math.round(height * sharp);
      if (this.#canvas.width !== pixelWidth) this.#canvas.width = pixelWidth;
      if (this.#canvas.height !== pixelHeight) this.#canvas.height = pixelHeight;
      this.#context.setTransform(sharp, 0, 0, sharp, 0, 0);
    }

    #themeColours() {
      const style = getComputedStyle(this.#canvas);
      const colour = (name) => style.getPropertyValue(name).trim();
      return {
        parts: [colour("--pre"), colour("--inference"), colour("--post")],
        line: colour("--muted"),
      };
    }

    /** The chart's full height in ms: 1, 2 or 5 times a power of ten, at least 50. */
    #top() {
      let largest = 0;
      const count = Math.min(this.#count, CHART_FRAMES);
      for (let at = 0; at < 3 * count; at += 3) {
        largest = Math.max(largest, this.#times[at] + this.#times[at + 1] + this.#times[at + 2]);
      }
      let top = 50;
      for (let step = 0; top < largest; step += 1) top *= step % 3 === 1 ? 2.5 : 2;
      return top;
    }

    #bars(width, height, top) {
      const count = Math.min(this.#count, CHART_FRAMES);
      const slot = width / CHART_FRAMES;
      const bar = Math.max(1, slot - 0.5);
      for (let back = 0; back < count; back += 1) {
        const at = 3 * ((this.#count - 1 - back) % CHART_FRAMES);
        const x = width - (back + 1) * slot;
        let y = height;
        for (let part = 0; part < 3; part += 1) {
          const size = (this.#times[at + part] / top) * height;
          this.#context.fillStyle = this.#colours.parts[part];
          this.#context.fillRect(x, y - size, bar, size);
          y -= size;
        }
      }
    }

    #line(width, height, top) {
      const context = this.#context;
      const y = Math.round(height * (1 - CHART_LINE_MS / top)) + 0.5;
      context.strokeStyle = this.#colours.line;
      context.fillStyle = this.#colours.line;
      context.lineWidth = 1;
      context.setLineDash([4, 3]);
      context.beginPath();
      context.moveTo(0, y);
      context.lineTo(width, y);
      context.stroke();
      context.setLineDash([]);
      context.font = "11px system-ui, sans-serif";
      context.textBaseline = "bottom";
      context.fillText(`${CHART_LINE_MS} ms`, 2, y - 1);
      context.textBaseline = "top";
      if (top > 2 * CHART_LINE_MS) context.fillText(`${top} ms`, 2, 1);
    }
  }

  /** The list of detections; its rows are made once and used again. */
  class DetectionList {
    #list;
    #count;
    #empty;
    #rows = [];
    #used = 0;

    /**
     * @param {HTMLOListElement} list
     * @param {HTMLElement} count
     * @param {HTMLElement} empty Shown when there are no rows, and to tell of rows left out.
     */
    constructor(list, count, empty) {
      this.#list = list;
      this.#count = count;
      this.#empty = empty;
    }

    /** @param {{name: string, classId: number, score: number}[]} detections Best first. */
    show(detections) {
      const used = Math.min(detections.length, MAX_LIST_ROWS);
      while (this.#used > used) {
        this.#used -= 1;
        this.#rows[this.#used].item.remove();
      }
      for (let index = 0; index < used; index += 1) this.#fill(index, detections[index]);
      this.#used = used;
      setText(this.#count, String(detections.length));
      this.#note(detections.length - used, used === 0);
    }

    #fill(index, { name, classId, score }) {
      if (index === this.#rows.length) this.#rows.push(makeRow());
      const row = this.#rows[index];
      if (index >= this.#used) this.#list.append(row.item);
      setText(row.name, name);
      setText(row.score, percent(score));
      row.item.style.setProperty("--share", score.toFixed(3));
      const colour = classColour(name, classId);
      if (row.colour !== colour) {
        row.colour = colour;
        row.item.style.setProperty("--class-colour", colour);
      }
    }

    #note(left, none) {
      this.#empty.hidden = !none && left === 0;
      setText(this.#empty, none ? "Nothing found." : `and ${left} more`);
    }
  }

  function makeRow() {
    const item = document.createElement("li");
    const [swatch, name, bar, score] = ["swatch", "name", "bar", "score"].map((className) => {
      const part = document.createElement("span");
      part.className = className;
      return part;
    });
    item.append(swatch, name, bar, score);
    return { item, name, score, colour: "" };
  }

  /** Checkboxes, one for each class of the model. */
  class ClassFilter {
    #box;
    #search;
    #inputs = [];

    /**
     * @param {HTMLElement} box
     * @param {HTMLInputElement} search Shown when there are many classes.
     * @param {() => void} onChange
     */
    constructor(box, search, onChange) {
      this.#box = box;
      this.#search = search;
      box.addEventListener("change", onChange);
      search.addEventListener("input", () => this.#find());
    }

    /** @param {string[]} names Of the model's classes; all are switched on. */
    setNames(names) {
      this.#search.hidden = names.length <= 12;
      this.#search.value = "";
      this.#inputs = [];
      this.#box.replaceChildren(...names.map((name, classId) => this.#row(name, classId)));
    }

    #row(name, classId) {
      const label = document.createElement("label");
      label.className = "check";
      label.style.setProperty("--class-colour", classColour(name, classId));
      const input = document.createElement("input");
      input.type = "checkbox";
      input.checked = true;
      input.dataset.class = String(classId);
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      const text = document.createElement("span");
      text.textContent = name;
      label.append(input, swatch, text);
      this.#inputs.push(input);
      return label;
    }

    #find() {
      const wanted = this.#search.value.trim().toLowerCase();
      for (const row of this.#box.children) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
      }
    }

    /** @param {boolean} on Switch all classes on or off. */
    setAll(on) {
      for (const input of this.#inputs) input.checked = on;
    }

    /** @returns {number[]|null} Ids of the classes that are on; null if all are. */
    enabled() {
      if (this.#inputs.every((input) => input.checked)) return null;
      return this.#inputs.flatMap((input, classId) => (input.checked ? [classId] : []));
    }
  }

  /** "2 × person, 1 × cell phone"; "nothing" without detections. */
  function summary(detections) {
    const counts = new Map();
    for (const { name } of detections) counts.set(name, (counts.get(name) ?? 0) + 1);
    const parts = [...counts].map(([name, count]) => `${count} × ${name}`);
    return parts.length ? parts.join(", ") : "nothing";
  }

  /** A message as a sentence: with a capital letter and a full stop. */
  function sentence(text) {
    const stop = /[.!?…]$/.test(text) ? "" : ".";
    return `${text.charAt(0).toUpperCase()}${text.slice(1)}${stop}`;
  }

  /** Let the browser save a file. */
  function download(blob, fileName) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = fileName;
    link.click();
    // The browser needs the address until it has begun to save.
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  return {
    StageView,
    FrameTimes,
    TimeChart,
    DetectionList,
    ClassFilter,
    setText,
    summary,
    sentence,
    download,
  };
})();
