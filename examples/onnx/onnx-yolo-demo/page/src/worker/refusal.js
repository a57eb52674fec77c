/**
 * Why onnxruntime-web does not run a model, in words for the one who has the model.
 *
 * Its own messages name files of its build, and not what helps.
 */
import { failure } from "./failure.js";

/** What its messages say, and what that means; $1 and $2 are parts of the message. */
const MEANINGS = [
  [
    /Opset (\d+) is under development.*?domain (\S+) is till opset (\d+)/s,
    "it is written in opset $1 of $2, and the page's runtime knows opsets up to $3; export it with " +
      "an older one, such as opset 20",
  ],
  [
    /Failed to load external data file "+([^"]*)"/,
    'its weights are in another file, "$1"; save it as one file: ' +
      'onnx.save(onnx.load("model.onnx"), "one_file.onnx")',
  ],
  [
    /Fatal error: ([\w.]+):(\w+)\(.*?is not a registered function/,
    "it uses $2, an operator of $1, which the page's runtime does not have; export it with " +
      "ONNX's own operators only",
  ],
  [
    /No Op registered for (\w+) with domain_version of (\d+)/,
    "it uses the operator $1, which ONNX's opset $2 does not have; export it with another opset, " +
      "or without this operator",
  ],
  [
    /No opset import for domain '([^']*)'/,
    'it uses operators of "$1" without telling their version; export it again',
  ],
  [
    /Could not find an implementation for (\w+)\((\d+)\)/,
    "the page's runtime does not compute the operator $1 of opset $2 for these types; export it " +
      "as float32, with opset 20",
  ],
];

/**
 * The runtime's own message, without the places in its sources and its numbers of errors.
 * @param {string} message
 */
function withoutPlaces(message) {
  return message
    .replace(/.*?ERROR_MESSAGE:\s*/s, "")
    .replace(/(?:[A-Za-z]:)?[\\/]\S*\.(?:cc|h|cpp):\d+[^\n]*?\)(?=\s)\s*/g, "")
    .replace(/\[ONNXRuntimeError\]\s*:\s*\d+\s*:\s*\w+\s*:\s*/g, "")
    .trim();
}

/**
 * @param {string} message Of onnxruntime-web, when it reads or runs a model.
 * @returns {Error & {code: string}} "model-broken": it is no ONNX file; "model-refused".
 */
export function refusal(message) {
  for (const [pattern, meaning] of MEANINGS) {
    const found = message.match(pattern);
    if (found) {
      const text = /** @type {string} */ (meaning).replace(/\$(\d)/g, (_, part) => found[part]);
      return failure("model-refused", text);
    }
  }
  if (/protobuf parsing failed|No graph was found/i.test(message)) {
    return failure("model-broken", "this is not a complete ONNX file");
  }
  if (/bad_alloc|out of memory|allocation failed|memory access out of bounds/i.test(message)) {
    return failure(
      "model-refused",
      "it needs more memory than the browser gives; export it for smaller pictures, or take a " +
        "smaller network",
    );
  }
  return failure("model-refused", `the page's runtime says: ${withoutPlaces(message)}`);
}
