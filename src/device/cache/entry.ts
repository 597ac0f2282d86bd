/**
 * The bytes of a cache file: a line that identifies the format, the lengths of key and program, the key, zeros up to an
 * aligned address, the compiled program, and the SHA-256 hash of all this. The file contains the whole key so that it
 * can be compared, because the file's name is only a hash of it.
 */
import { nodeModule } from "../node.ts";

const MAGIC = new TextEncoder().encode("feynkac kernel 2\n");
const HEAD = MAGIC.length + 8;
const DIGEST = 32;
/** V8 copies the code that it is given unless that begins at a multiple of so many bytes. */
const ALIGNMENT = 8;

/** Returns the place of the program after a key of some bytes. */
const placeAfter = (keyLength: number): number => Math.ceil((HEAD + keyLength) / ALIGNMENT) * ALIGNMENT;

/** Returns the bytes of a cache file: the key, the compiled program (`image`), and a checksum. */
export function encodeEntry(key: string, image: Uint8Array): Uint8Array {
  const keyBytes = new TextEncoder().encode(key);
  const place = placeAfter(keyBytes.length);
  const bytes = new Uint8Array(place + image.length + DIGEST);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(MAGIC.length, keyBytes.length, true);
  view.setUint32(MAGIC.length + 4, image.length, true);
  bytes.set(keyBytes, HEAD);
  bytes.set(image, place);
  bytes.set(digest(bytes.subarray(0, -DIGEST)), bytes.length - DIGEST);
  return bytes;
}

/** Returns the compiled program in a cache file, or undefined if the file is damaged or belongs to another key. */
export function decodeEntry(bytes: Uint8Array<ArrayBuffer>, key: string): Uint8Array<ArrayBuffer> | undefined {
  if (bytes.length < HEAD + DIGEST || !startsWith(bytes, MAGIC)) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [keyLength, imageLength] = [view.getUint32(MAGIC.length, true), view.getUint32(MAGIC.length + 4, true)];
  const place = placeAfter(keyLength);
  if (bytes.length !== place + imageLength + DIGEST) return undefined;
  if (!startsWith(bytes.subarray(-DIGEST), digest(bytes.subarray(0, -DIGEST)))) return undefined;
  if (Buffer.compare(bytes.subarray(HEAD, HEAD + keyLength), new TextEncoder().encode(key)) !== 0) return undefined;
  return new Uint8Array(bytes.buffer, bytes.byteOffset + place, imageLength);
}

/** Returns the name of the cache file of a key: the key's SHA-256 hash in hexadecimal. */
export const cacheFileName = (key: string): string =>
  nodeModule("node:crypto").createHash("sha256").update(key).digest("hex");

const digest = (bytes: Uint8Array): Uint8Array => nodeModule("node:crypto").createHash("sha256").update(bytes).digest();

const startsWith = (bytes: Uint8Array, start: Uint8Array): boolean =>
  Buffer.compare(bytes.subarray(0, start.length), start) === 0;
