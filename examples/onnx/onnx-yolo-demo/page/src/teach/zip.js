/**
 * Zip files without compression, for pictures are compressed already.
 *
 * The format is that of PKWARE's APPNOTE.TXT, sections 4.3.7 (local headers), 4.3.12 (the central
 * directory) and 4.3.16 (its end), without the extension for files beyond 4 GB.
 */
import { crc32 } from "../worker/crc32.js";

const VERSION = 20; // of the format that a reader must know
const UTF8_NAMES = 0x0800;
const LARGEST = 0xffffffff; // bytes of the whole file
const MOST = 0xffff; // entries

/** Little-endian bytes of [bytes, value] pairs. @param {[2|4, number][]} fields */
function record(fields) {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

/** Time and date as MS-DOS counts them, in local time, from 1980. @param {Date} when */
function dosTime(when) {
  const time = (when.getHours() << 11) | (when.getMinutes() << 5) | (when.getSeconds() >> 1);
  const years = Math.max(when.getFullYear() - 1980, 0);
  return [time, (years << 9) | ((when.getMonth() + 1) << 5) | when.getDate()];
}

/**
 * A zip file.
 * @param {{name: string, content: Uint8Array<ArrayBuffer>|string}[]} entries Names with slashes
 *   between folders; texts are written as UTF-8.
 * @param {Date} [when] The time that all of them are given.
 * @returns {Blob}
 * @throws {RangeError} If it would have more than 4 GB, or more than 65,535 entries.
 */
export function zip(entries, when = new Date()) {
  if (entries.length > MOST) throw new RangeError(`a zip file holds no more than ${MOST} files`);
  const encoder = new TextEncoder();
  const [time, date] = dosTime(when);
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const bytes = typeof content === "string" ? encoder.encode(content) : content;
    const path = encoder.encode(name);
    /** @type {[2|4, number][]} What both headers say: no compression, sizes, no extra field. */
    const facts = [
      [2, VERSION],
      [2, UTF8_NAMES],
      [2, 0],
      [2, time],
      [2, date],
      [4, crc32(bytes)],
      [4, bytes.length],
      [4, bytes.length],
      [2, path.length],
      [2, 0],
    ];
    const header = record([[4, 0x04034b50], ...facts]);
    parts.push(header, path, bytes);
    // No comment, the first disk, no attributes.
    const rest = record([
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, offset],
    ]);
    directory.push(record([[4, 0x02014b50], [2, VERSION], ...facts]), rest, path);
    offset += header.length + path.length + bytes.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  if (offset + size > LARGEST) throw new RangeError("a zip file holds no more than 4 GB");
  const end = record([
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length],
    [4, size],
    [4, offset],
    [2, 0],
  ]);
  return new Blob([...parts, ...directory, end], { type: "application/zip" });
}
