/** How far the reference cases come out from their published or recomputed values, and how far they may. */
import type { Device } from "../../src/device/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { type ReferenceTrade, referenceTrades, results } from "./reference.ts";

/**
 * A deterministic drift of 20 standard deviations: the closed form prices it, the mesh only says that it cannot well.
 */
export const NOT_FOR_MESHES = "EUR-O-13";

/** All that finite differences price. */
export const solvableTrades = (): ReferenceTrade[] =>
  referenceTrades().filter(({ trade }) => trade.id !== NOT_FOR_MESHES);

/**
 * Largest error over spot: that of the method in f64, which emulated double does not add to, and of rounding in f32.
 */
export const OF_SPOT: Readonly<Record<Precision, number>> = { f64: 2e-5, f32x2: 2e-5, f32: 3e-4 };

/** Least part of error estimates that hold. */
export const HONEST = 0.95;

/** The case's own tolerance, if that is wider. */
export const allowedError = ({ trade, tolerance }: ReferenceTrade, precision: Precision): number =>
  Math.max(tolerance, OF_SPOT[precision] * trade.underlying.spot);

export interface ReferenceError {
  readonly id: string;
  readonly value: number;
  readonly error: number;
  readonly overSpot: number;
  /** Whether the error estimate covers the error. */
  readonly honest: boolean;
}

/** The methods that all of the cases are compared by. */
export type ComparedMethod = "auto" | "fdm";

export interface ReferenceOptions {
  readonly precision: Precision;
  readonly method: ComparedMethod;
}

/** In the order of `trades`. One that has no price is infinitely wrong, and its `id` says why. */
export async function referenceErrors(
  device: Device,
  options: ReferenceOptions,
  trades: readonly ReferenceTrade[],
): Promise<ReferenceError[]> {
  const got = await results(
    trades.map(({ trade }) => trade),
    { device, greeks: "none", openFallback: neverElsewhere, ...options },
  );
  return got.map((result, i) => {
    const { trade, expected, tolerance } = trades[i];
    if (result.status === "error") return withoutPrice(`${trade.id} (${result.error.message})`);
    const error = Math.abs(result.value - expected["price"]);
    const honest = error <= result.errorEstimate + 0.01 * tolerance;
    return { id: trade.id, value: result.value, error, overSpot: error / trade.underlying.spot, honest };
  });
}

const withoutPrice = (id: string): ReferenceError => ({
  id,
  value: NaN,
  error: Infinity,
  overSpot: Infinity,
  honest: false,
});

/** Nothing is to be measured on another device than the one that is named. */
function neverElsewhere(): Promise<Device> {
  return Promise.reject(new Error("the device was lost"));
}
