/** How far the Greeks of the European reference cases come out from their published values, and how far they may. */
import type { Device } from "../../src/device/index.ts";
import { priced, type ReferenceTrade, referenceTrades } from "./reference.ts";
import type { ReferenceOptions } from "./reference-errors.ts";

export const GREEKS = ["delta", "gamma", "theta", "vega", "rho"] as const;
export type Greek = (typeof GREEKS)[number];

/** Relative to the Greek and a tenth of its unit. */
const TOLERANCES = {
  // Rounding of the closed form; the published values are correct to the last digit.
  auto: { mesh: 1e-9, bump: 1e-9 },
  // Vega and rho are those of the fine mesh alone, not extrapolated: their error is the fine value's, about 1e-4 of
  // them.
  fdm: { mesh: 2e-5, bump: 5e-4 },
} as const;

/** A volatility of nearly zero, and a drift of 20 standard deviations. */
const NOT_BY_MESHES: readonly string[] = ["EUR-O-12", "EUR-O-13"];

export interface GreekError {
  readonly id: string;
  readonly name: Greek;
  readonly value: number;
  readonly expected: number;
  readonly error: number;
  readonly allowed: number;
}

/** @throws Error (a trade that has no price) */
export async function greekErrors(device: Device, options: ReferenceOptions): Promise<GreekError[]> {
  const covered = referenceTrades().filter((one) => isCovered(one, options));
  const got = await priced(
    covered.map(({ trade }) => trade),
    { device, ...options },
  );
  return covered.flatMap((one, i) => GREEKS.map((name) => errorOf(name, got[i][name] as number, one, options)));
}

const isCovered = ({ trade, expected }: ReferenceTrade, { method }: ReferenceOptions): boolean =>
  trade.id.startsWith("EUR") &&
  expected["delta"] !== undefined &&
  (method === "auto" || !NOT_BY_MESHES.includes(trade.id));

function errorOf(
  name: Greek,
  value: number,
  { trade, expected }: ReferenceTrade,
  options: ReferenceOptions,
): GreekError {
  const { spot } = trade.underlying;
  // Absolute parts in the Greek's own unit: value over spot for delta, over spot² for gamma, and so on.
  const unit = { delta: 1, gamma: 1 / (spot * Math.max(trade.expiry, 0.01)), theta: spot, vega: spot, rho: spot };
  const { mesh, bump } = TOLERANCES[options.method];
  const tolerance = name === "vega" || name === "rho" ? bump : mesh;
  const allowed = tolerance * (Math.abs(expected[name]) + 0.1 * unit[name]);
  return { id: trade.id, name, value, expected: expected[name], error: Math.abs(value - expected[name]), allowed };
}
