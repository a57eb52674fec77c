"use strict";

/**
 * What the page has to know of an ONNX file before it runs it: a reader of the few protobuf
 * fields that hold the metadata, the inputs and the outputs. Weights are stepped over.
 *
 * The function uses nothing outside of itself, because its text becomes part of the worker.
 */
// biome-ignore lint/correctness/noUnusedVariables: the next scripts use it.
function onnxMetadataModule() {
  const FLOAT = 1; // of onnx.TensorProto.DataType
  const TYPE_NAMES = {
    1: "float32",
    2: "uint8",
    3: "int8",
    6: "int32",
    7: "int64",
    9: "bool",
    10: "float16",
    11: "float64",
    16: "bfloat16",
  };
  const EXPORT_HINT = "export a YOLO detector with a fixed square input, without built-in NMS";
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

  function failure(code, message) {
    return Object.assign(new Error(message), { code });
  }

  function broken(message) {
    return failure("model-broken", `this is not a complete ONNX file: ${message}`);
  }

  function wrongShape(message) {
    return failure("model-shape", message);
  }

  // ---------------------------------------------------------------------- protobuf

  /**
   * A number of 7-bit groups at `cursor.at`, as a signed 64-bit integer; the cursor moves on.
   * Numbers beyond 53 bits lose their last digits; no size of a model is that large.
   */
  function readVarint(bytes, cursor, end) {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (cursor.at >= end) {
        throw broken("it ends within a number");
      }
      const byte = bytes[cursor.at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) {
        return Number(BigInt.asIntN(64, value));
      }
    }
    throw broken("a number has more than 64 bits");
  }

  /** Where the content of a field lies; the cursor moves behind it. */
  function readContent(bytes, wire, cursor, end) {
    if (wire === 0) {
      return { value: readVarint(bytes, cursor, end), start: 0, end: 0 };
    }
    const fixed = { 1: 8, 5: 4 }[wire];
    const length = wire === 2 ? readVarint(bytes, cursor, end) : fixed;
    if (length === undefined) {
      throw broken(`it holds a field of the unknown kind ${wire}`);
    }
    if (length < 0 || length > end - cursor.at) {
      throw broken("it is shorter than its parts say");
    }
    const start = cursor.at;
    cursor.at += length;
    return { value: null, start, end: cursor.at };
  }

  /**
   * Call `visit(field, content)` for every field of the message in bytes `start` to `end`.
   * `content` has the `value` of a number, or the `start` and `end` of anything else.
   */
  function walk(bytes, { start, end }, visit) {
    const cursor = { at: start };
    while (cursor.at < end) {
      const key = readVarint(bytes, cursor, end);
      const field = Math.floor(key / 8);
      if (field < 1) {
        throw broken("it holds a field without a number");
      }
      visit(field, readContent(bytes, key % 8, cursor, end));
    }
  }

  function readText(bytes, { start, end }) {
    try {
      return decoder.decode(bytes.subarray(start, end));
    } catch {
      throw broken("a name in it is not UTF-8");
    }
  }

  /** One axis of a shape: its length, or the name of an open one, or null. */
  function readAxis(bytes, span) {
    let axis = null;
    walk(bytes, span, (field, content) => {
      if (field === 1 && content.value !== null) {
        axis = content.value;
      } else if (field === 2 && content.value === null) {
        axis = readText(bytes, content);
      }
    });
    return axis;
  }

  /** Element type and shape of a TypeProto; the shape is null where the file gives none. */
  function readType(bytes, span) {
    const type = { elemType: null, shape: null };
    const readShape = (shape) => {
      type.shape = [];
      walk(bytes, shape, (field, content) => {
        if (field === 1) {
          type.shape.push(readAxis(bytes, content));
        }
      });
    };
    walk(bytes, span, (kind, tensor) => {
      if (kind === 1) {
        walk(bytes, tensor, (field, content) => {
          if (field === 1) {
            type.elemType = content.value;
          } else if (field === 2) {
            readShape(content);
          }
        });
      }
    });
    return type;
  }

  /** A ValueInfoProto: name, element type and shape. */
  function readValue(bytes, span) {
    const value = { name: "", elemType: null, shape: null };
    walk(bytes, span, (field, content) => {
      if (field === 1) {
        value.name = readText(bytes, content);
      } else if (field === 2) {
        Object.assign(value, readType(bytes, content));
      }
    });
    return value;
  }

  /** The text in field `wanted` of a message, "" where it has none. */
  function readName(bytes, span, wanted) {
    let name = "";
    walk(bytes, span, (field, content) => {
      if (field === wanted) {
        name = readText(bytes, content);
      }
    });
    return name;
  }

  function readGraph(bytes, span) {
    const graph = { inputs: [], outputs: [], nodes: 0 };
    const constants = new Set();
    walk(bytes, span, (field, content) => {
      if (field === 1) {
        graph.nodes++;
      } else if (field === 5) {
        constants.add(readName(bytes, content, 8));
      } else if (field === 11) {
        graph.inputs.push(readValue(bytes, content));
      } else if (field === 12) {
        graph.outputs.push(readValue(bytes, content));
      }
    });
    // Old files list their weights among the inputs.
    graph.inputs = graph.inputs.filter((input) => !constants.has(input.name));
    return graph;
  }

  function rejectOtherFiles(bytes) {
    const head = String.fromCharCode(...bytes.subarray(0, 60)).trimStart();
    if (bytes.length === 0) {
      throw broken("the file is empty");
    }
    if (head.startsWith("version https://git-lfs")) {
      throw broken("it is the placeholder of Git LFS; fetch the file itself with: git lfs pull");
    }
    if (head.startsWith("PK\u0003\u0004")) {
      throw broken("it is an archive, perhaps PyTorch's .pt; export that model to ONNX");
    }
    if (head.startsWith("<")) {
      throw broken("it is a web page; the download went wrong");
    }
  }

  /**
   * Metadata, inputs and outputs of an ONNX file.
   * @param {Uint8Array} bytes The file; nothing of it is copied but names.
   * @returns {{metadata: Object<string, string>,
   *   inputs: {name: string, elemType: number, shape: (number|string|null)[]|null}[],
   *   outputs: {name: string, elemType: number, shape: (number|string|null)[]|null}[]}}
   *   Axes are lengths, or names of open axes, or null; weights are not among the inputs.
   * @throws {Error} `.code` "model-broken".
   */
  function readModel(bytes) {
    rejectOtherFiles(bytes);
    const metadata = {};
    let graph = null;
    let operators = 0;
    walk(bytes, { start: 0, end: bytes.length }, (field, content) => {
      if (field === 7 && content.value === null) {
        graph = readGraph(bytes, content);
      } else if (field === 8) {
        operators++;
      } else if (field === 14 && content.value === null) {
        metadata[readName(bytes, content, 1)] = readName(bytes, content, 2);
      }
    });
    if (graph === null || graph.nodes === 0 || graph.outputs.length === 0) {
      throw broken("it has no graph with nodes and outputs");
    }
    if (operators === 0) {
      throw broken("it does not say which version of ONNX's operators it uses");
    }
    return { metadata, inputs: graph.inputs, outputs: graph.outputs };
  }

  // ---------------------------------------------------------------------- names

  const ESCAPES = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", a: "\x07", v: "\v", 0: "\0" };
  const CODE_DIGITS = { x: 2, u: 4, U: 8 };

  /** The character that a backslash at `cursor.at - 1` begins, as in Python and JSON. */
  function readEscape(text, cursor) {
    const letter = text[cursor.at++];
    const digits = CODE_DIGITS[letter];
    if (digits === undefined) {
      return ESCAPES[letter] ?? letter ?? "";
    }
    const code = text.slice(cursor.at, cursor.at + digits);
    const point = /^[0-9a-fA-F]+$/.test(code) ? Number.parseInt(code, 16) : Number.NaN;
    if (code.length < digits || !(point <= 0x10ffff)) {
      throw new SyntaxError(`\\${letter}${code} is no character`);
    }
    cursor.at += digits;
    // Halves of a pair (JSON) are joined by their order in the string.
    return point > 0xffff ? String.fromCodePoint(point) : String.fromCharCode(point);
  }

  /** A string in single or double quotes. */
  function readQuoted(text, cursor) {
    const quote = text[cursor.at++];
    let result = "";
    while (cursor.at < text.length) {
      const character = text[cursor.at++];
      if (character === quote) {
        return result;
      }
      result += character === "\\" ? readEscape(text, cursor) : character;
    }
    throw new SyntaxError("a quote is not closed");
  }

  /** A quoted string, or a bare number or word, as text. */
  function readItem(text, cursor) {
    if (text[cursor.at] === "'" || text[cursor.at] === '"') {
      return readQuoted(text, cursor);
    }
    const bare = /^[\p{L}\p{N}_.+-]+/u.exec(text.slice(cursor.at, cursor.at + 200));
    if (bare === null) {
      throw new SyntaxError(`unexpected ${text[cursor.at] ?? "end"} at place ${cursor.at}`);
    }
    cursor.at += bare[0].length;
    return bare[0];
  }

  function skipSpace(text, cursor) {
    while (/\s/.test(text[cursor.at] ?? "")) {
      cursor.at++;
    }
  }

  /** Move over `sign`; whether it was there. */
  function take(text, cursor, sign) {
    skipSpace(text, cursor);
    const found = text[cursor.at] === sign;
    cursor.at += found ? 1 : 0;
    skipSpace(text, cursor);
    return found;
  }

  function readKey(text, cursor) {
    const key = readItem(text, cursor);
    if (!/^\d{1,6}$/.test(key)) {
      throw new SyntaxError(`class number ${key} is not a whole number`);
    }
    if (!take(text, cursor, ":")) {
      throw new SyntaxError(`no colon after class number ${key}`);
    }
    return Number(key);
  }

  /**
   * Class names as a list; gaps in a dictionary stay undefined.
   * @param {string} text A Python dictionary or list, or JSON.
   */
  function parseNames(text) {
    const cursor = { at: 0 };
    const names = [];
    const isDict = take(text, cursor, "{");
    if (!isDict && !take(text, cursor, "[")) {
      throw new SyntaxError("neither a dictionary nor a list");
    }
    const close = isDict ? "}" : "]";
    while (!take(text, cursor, close)) {
      const key = isDict ? readKey(text, cursor) : names.length;
      names[key] = readItem(text, cursor);
      if (!take(text, cursor, ",")) {
        if (take(text, cursor, close)) {
          break;
        }
        throw new SyntaxError(`no comma after ${names[key]}`);
      }
    }
    if (cursor.at < text.length) {
      throw new SyntaxError(`unexpected text at place ${cursor.at}`);
    }
    return names;
  }

  /** The class names, or null where the file gives none. */
  function readNames(metadata) {
    if (metadata.names === undefined) {
      return null;
    }
    try {
      const names = parseNames(metadata.names);
      return names.length > 0 ? names : null;
    } catch (error) {
      throw wrongShape(
        `the class names in the model's metadata cannot be read: ${error.message}; needed is ` +
          `metadata "names" such as {0: 'person', 1: 'cell phone'}`,
      );
    }
  }

  // ---------------------------------------------------------------------- detector

  function describe(value) {
    const shape = (value.shape ?? ["no shape"]).map((axis) => axis ?? "?").join(", ");
    return `${value.name} ${TYPE_NAMES[value.elemType] ?? "of another type"} (${shape})`;
  }

  const isOpen = (axis) => typeof axis !== "number";

  function readThreshold(metadata, key, standard) {
    if (metadata[key] === undefined) {
      return standard;
    }
    const value = metadata[key].trim() === "" ? Number.NaN : Number(metadata[key]);
    if (!(value >= 0 && value <= 1)) {
      throw wrongShape(
        `the model's metadata gives "${key}" as ${metadata[key]}; needed: a number from 0 to 1`,
      );
    }
    return value;
  }

  /** Height and width from metadata such as "[320, 320]" or "320"; null without. */
  function metadataSize(metadata) {
    const numbers = (metadata.imgsz ?? "").match(/\d+/g);
    return numbers === null ? null : [Number(numbers[0]), Number(numbers[1] ?? numbers[0])];
  }

  function inputSize(input, metadata) {
    const [, , height, width] = input.shape;
    const stated = metadataSize(metadata);
    if ((isOpen(height) || isOpen(width)) && stated === null) {
      throw wrongShape(
        `the model's input ${describe(input)} leaves its height and width open and the metadata ` +
          'has no "imgsz"; export the model for a fixed image size',
      );
    }
    return [isOpen(height) ? stated[0] : height, isOpen(width) ? stated[1] : width];
  }

  /** The picture input and its [height, width]. */
  function findInput({ inputs, metadata }) {
    const found = inputs.map(describe).join("; ") || "none";
    const fix = `needed: one input, float32 (1, 3, S, S); ${EXPORT_HINT}`;
    const input = inputs[0];
    if (inputs.length !== 1 || input.elemType !== FLOAT || input.shape?.length !== 4) {
      throw wrongShape(`the model's inputs are: ${found}; ${fix}`);
    }
    const [batch, channels] = input.shape;
    if (!(isOpen(batch) || batch === 1) || !(isOpen(channels) || channels === 3)) {
      throw wrongShape(`the model's input is ${found}; ${fix}`);
    }
    const [height, width] = inputSize(input, metadata);
    if (height !== width || height < 1) {
      throw wrongShape(`the model's input is ${found}, ${height} x ${width} pixels; ${fix}`);
    }
    return { input, size: [height, width] };
  }

  function rejectOtherTasks({ outputs, metadata }) {
    if (metadata.task !== undefined && metadata.task !== "detect") {
      throw wrongShape(
        `the model's metadata says that its task is "${metadata.task}"; needed: "detect"`,
      );
    }
    if (outputs.length !== 1 && !outputs.some((output) => output.name === "output0")) {
      throw wrongShape(
        `the model's outputs are: ${outputs.map(describe).join("; ")}; needed: one output, or ` +
          `one with the name output0; ${EXPORT_HINT}`,
      );
    }
  }

  /** The output, its number of classes, and its number of boxes (null where it is open). */
  function findOutput(model, names) {
    rejectOtherTasks(model);
    const { outputs } = model;
    const output = outputs.find(({ name }) => name === "output0") ?? outputs[0];
    const needed =
      names === null
        ? "needed: float32 (1, 4 + classes, boxes)"
        : `needed for its ${names.length} classes: float32 (1, ${4 + names.length}, boxes)`;
    const wrong = () => wrongShape(`the model's output is ${describe(output)}; ${needed}`);
    if (output.elemType !== FLOAT || output.shape?.length !== 3) {
      throw wrong();
    }
    const [batch, rows, boxes] = output.shape;
    const numClasses = isOpen(rows) ? names?.length : rows - 4;
    const anchors = isOpen(boxes) ? null : boxes;
    if (!(isOpen(batch) || batch === 1) || !(numClasses >= 1) || anchors === 0) {
      throw wrong();
    }
    // Without names only the proportions tell an output that lies the other way round.
    const turned = names === null && anchors !== null && anchors < rows;
    if (turned || (names !== null && names.length !== numClasses)) {
      throw wrong();
    }
    return { output, numClasses, anchors };
  }

  /**
   * What the page needs to know of a detector.
   * @param {Uint8Array} bytes An ONNX file.
   * @returns {{names: string[], size: number[], confidence: number, iou: number,
   *   input: object, output: object, numClasses: number, anchors: number|null,
   *   metadata: Object<string, string>}} `size` is [height, width] in pixels; `anchors` is null
   *   where the file leaves the number of boxes open; `input` and `output` as of `readModel`.
   * @throws {Error} `.code` "model-broken", or "model-shape" for another kind of model.
   */
  function readDetector(bytes) {
    const model = readModel(bytes);
    const { metadata } = model;
    const { input, size } = findInput(model);
    const stated = readNames(metadata);
    const { output, numClasses, anchors } = findOutput(model, stated);
    const names = Array.from({ length: numClasses }, (_, k) => stated?.[k] ?? `class ${k}`);
    return {
      names,
      size,
      confidence: readThreshold(metadata, "conf", 0.25),
      iou: readThreshold(metadata, "iou", 0.7),
      input,
      output,
      numClasses,
      anchors,
      metadata,
    };
  }

  return { readModel, readDetector };
}
