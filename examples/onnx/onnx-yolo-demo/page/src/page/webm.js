/** Whether a WebM film is whole: Firefox takes one that is damaged in its middle for a short one. */

const FILE = 0x1a45dfa3; // how every WebM begins
const OPENED = new Set([0x18538067, 0x1f43b675]); // Segment and Cluster: their parts are looked at
const PARTS = new Set([
  FILE,
  0x114d9b74, // SeekHead, and the other parts of a Segment
  0x1549a966,
  0x1654ae6b,
  0x1c53bb6b,
  0x1043a770,
  0x1254c367,
  0x1941a469,
  0xe7, // Timestamp, and the other parts of a Cluster
  0xa3,
  0xa0,
  0xa7,
  0xab,
  0xaf,
  0x5854,
  0xec, // Void and CRC-32, which may be anywhere
  0xbf,
]);
const READ_BYTES = 65536; // at once
const HEAD_BYTES = 12; // of a part at most: its number and its length

/**
 * The first number of some bytes, as EBML writes them: zeros in front say how many bytes it has.
 * @param {Uint8Array} bytes
 * @param {boolean} marked Whether the bit that ends those zeros belongs to it.
 * @returns {[number, number]} It, and how many bytes it has; infinite if all its bits are ones.
 */
function readNumber(bytes, marked) {
  const length = Math.clz32(bytes[0]) - 23;
  const first = marked ? bytes[0] : bytes[0] & (0xff >> length);
  const ones = 2 ** (7 * length) - 1;
  const value = bytes.subarray(1, length).reduce((sum, byte) => 256 * sum + byte, first);
  return [!marked && value === ones ? Number.POSITIVE_INFINITY : value, length];
}

/**
 * Whether part follows part until a film's end. A film that was cut off counts as whole, and so does
 * any file that is no WebM.
 * @param {Blob} film
 */
export async function isWhole(film) {
  let [from, bytes] = [0, new Uint8Array()]; // of the file, what is read
  for (let at = 0; at < film.size; ) {
    if (at < from || at + HEAD_BYTES > from + bytes.length) {
      from = at;
      bytes = new Uint8Array(await film.slice(at, at + READ_BYTES).arrayBuffer());
    }
    const head = bytes.subarray(at - from, at - from + HEAD_BYTES);
    const [part, idBytes] = readNumber(head, true);
    if (idBytes <= 4 && head.length < idBytes) return true; // it was cut off within the number
    if (at === 0 && part !== FILE) return true;
    if (idBytes > 4 || !(PARTS.has(part) || OPENED.has(part))) return false;
    const [length, lengthBytes] = readNumber(head.subarray(idBytes), false);
    at += idBytes + lengthBytes + (OPENED.has(part) ? 0 : length);
  }
  return true;
}
