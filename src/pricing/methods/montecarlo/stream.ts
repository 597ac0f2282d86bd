/** The stream of random numbers that a trade has. */
import type { Trade } from "../../../book/index.ts";
import { assetsOf } from "../../terms.ts";

/**
 * Returns the number of a trade's random stream, a 32-bit hash of its terms: underlyings by name, payoff, expiry,
 * exercise and barriers. Id, quantity and position are excluded, so that a trade has the same value in any book. The
 * market is excluded, so that values before and after a market move use the same random numbers.
 */
export function streamOf(trade: Trade): number {
  const { payoff, expiry, exercise, barriers } = trade;
  const names = assetsOf(trade).map(({ underlying }) => underlying.name);
  return finish(hashed(0x9e3779b9, [names, payoff, expiry, exercise, barriers]));
}

/** The properties that a stream ignores: the place of a formula in the book says nothing of what it is. */
const PLACES: readonly string[] = ["place"];

const bits = new DataView(new ArrayBuffer(8));

/** A hash goes on with a value of the book: a number, a text, a list or a record, whose fields have no order. */
function hashed(hash: number, value: unknown): number {
  if (typeof value === "number") {
    // −0 is 0.
    bits.setFloat64(0, value + 0);
    return mixed(mixed(hash, bits.getUint32(0)), bits.getUint32(4));
  }
  if (typeof value === "string") {
    let h = mixed(hash, 1);
    for (let i = 0; i < value.length; i++) h = mixed(h, value.charCodeAt(i));
    return h;
  }
  if (Array.isArray(value)) return value.reduce<number>(hashed, mixed(hash, value.length + 2));
  if (typeof value !== "object" || value === null) return hashed(hash, String(value));
  return Object.entries(value)
    .filter(([name, field]) => field !== undefined && !PLACES.includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .reduce((h, [name, field]) => hashed(hashed(h, name), field), hash);
}

/** A step and the end of MurmurHash3 (A. Appleby, public domain), of words of 32 bits. */
function mixed(hash: number, word: number): number {
  const scrambled = Math.imul(rotated(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593);
  return (Math.imul(rotated(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0;
}

function finish(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}

const rotated = (word: number, by: number): number => (word << by) | (word >>> (32 - by));
