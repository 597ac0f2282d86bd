/** Compares what a device computed with what the interpreter did. */
import type { HostArray } from "../../src/device/device.ts";
import { fromPairs, type Precision, toPairs } from "../../src/kernel/index.ts";
import { PAIRS, type Tolerance } from "./case.ts";

const words = new BigInt64Array(1);
const doubles = new Float64Array(words.buffer);

/** Doubles in order: neighbours differ by one. */
function rank64(x: number): bigint {
  doubles[0] = x;
  return words[0] < 0n ? -(words[0] & 0x7fffffffffffffffn) : words[0];
}

const word = new Int32Array(1);
const single = new Float32Array(word.buffer);

function rank32(x: number): number {
  single[0] = x;
  return word[0] < 0 ? -(word[0] & 0x7fffffff) : word[0];
}

function ulpsBetween(a: number, b: number, f32: boolean): number {
  return f32 ? Math.abs(rank32(a) - rank32(b)) : Math.abs(Number(rank64(a) - rank64(b)));
}

/** f32 below this is subnormal, and GPUs may flush it to zero. */
const SMALLEST_NORMAL = 2 ** -126;

function agrees(actual: number, expected: number, f32: boolean, tolerance: Tolerance | undefined): boolean {
  if (Object.is(actual, expected)) return true;
  if (tolerance === undefined) return false;
  if (actual === expected) return true; // zeros of either sign
  if (Number.isNaN(actual) || Number.isNaN(expected)) return false;
  if (f32 && Math.abs(expected) < SMALLEST_NORMAL && Math.abs(actual) < SMALLEST_NORMAL) return true;
  if (Math.abs(actual - expected) <= (tolerance.absolute ?? 0)) return true;
  return ulpsBetween(actual, expected, f32) <= (tolerance.ulps ?? 0);
}

/** Results of f32x2: of f32's range, and flushed, in the low word first, below its normal numbers. */
function agreesAsPair(actual: number, expected: number, { relative = 0, absolute = 0 }: Tolerance): boolean {
  const [inRange] = fromPairs(toPairs([expected]));
  if (actual === inRange || (Number.isNaN(actual) && Number.isNaN(inRange))) return true;
  const allowed = Math.max(relative * Math.abs(inRange), absolute, 2 * SMALLEST_NORMAL);
  return Number.isFinite(inRange) && Math.abs(actual - inRange) <= allowed;
}

/**
 * The largest error of a real, in ulps, or relative in f32x2; Infinity where only one is a number. Those within the
 * tolerance's absolute distance do not count, nor do subnormal numbers where there is a tolerance.
 */
export function largestError(
  actual: HostArray,
  expected: HostArray,
  tolerance: Tolerance | undefined,
  precision: Precision,
): number {
  if (!(expected instanceof Float64Array || expected instanceof Float32Array)) return 0;
  const asPair = precision === "f32x2";
  const free: Tolerance = { absolute: tolerance?.absolute ?? 0, because: "" };
  let worst = 0;
  for (let i = 0; i < expected.length; i++) {
    const [got, wanted] = [actual[i], expected[i]];
    if (asPair ? agreesAsPair(got, wanted, free) : agrees(got, wanted, precision === "f32", tolerance && free))
      continue;
    if (Number.isNaN(got) || Number.isNaN(wanted)) return Infinity;
    const error = asPair ? Math.abs(got - wanted) / Math.abs(wanted) : ulpsBetween(got, wanted, precision === "f32");
    worst = Math.max(worst, error);
  }
  return worst;
}

/** The first elements that differ too much, in words; empty when all agree. */
export function differences(
  name: string,
  actual: HostArray,
  expected: HostArray,
  tolerance: Tolerance | undefined,
  precision?: Precision,
): string[] {
  if (actual.length !== expected.length) return [`${name}: ${actual.length} elements, expected ${expected.length}`];
  const isReal = expected instanceof Float64Array || expected instanceof Float32Array;
  const f32 = expected instanceof Float32Array;
  const found: string[] = [];
  for (let i = 0; i < expected.length && found.length < 5; i++) {
    const asPair = isReal && precision === "f32x2";
    if (asPair && agreesAsPair(actual[i], expected[i], tolerance ?? PAIRS)) continue;
    if (!asPair && agrees(actual[i], expected[i], f32, isReal ? tolerance : undefined)) continue;
    const relative = Math.abs(actual[i] / expected[i] - 1).toExponential(1);
    const ulps = isReal ? ` (${ulpsBetween(actual[i], expected[i], f32)} ulps, ${relative})` : "";
    found.push(`${name}[${i}]: got ${show(actual[i])}, the interpreter says ${show(expected[i])}${ulps}`);
  }
  return found;
}

const show = (x: number): string => (Object.is(x, -0) ? "-0" : String(x));
