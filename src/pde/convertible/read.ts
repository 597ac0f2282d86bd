import { fornbergWeights } from "../fdm/index.ts";
import type { Convertible } from "./contract.ts";
import { covers, isDate } from "./contract.ts";
import type { Profile } from "./rollback.ts";
import { firstIndex } from "../../base/search.ts";

/** The value V, its cash-only part B, and the derivatives of V at a spot, in the currency. */
export interface Point {
  readonly value: number;
  readonly cash: number;
  readonly delta: number;
  readonly gamma: number;
}

/** Returns the spots at which V has a kink now because a call binds there, in units of the notional. */
export function kinksNow({ calls, conversions, notional, coupons }: Convertible): number[] {
  const isNow = (period: { readonly from: number; readonly to: number }): boolean => covers(period, 0, 0);
  const ratio = conversions.find(isNow)?.ratio ?? 0;
  const first = coupons[0];
  const accrued =
    first === undefined ? 0 : (first.amount * Math.max(-first.accruesFrom, 0)) / (first.time - first.accruesFrom);
  return calls
    .filter((call) => isNow(call) && !isDate(call))
    .map(({ price, trigger }) => Math.max(trigger, ratio > 0 ? (price + accrued) / ratio : 0) / notional);
}

/** Nodes that a value is read from. */
const POINTS = 5;

/**
 * Returns the solution at a spot (in units of the notional), by polynomials through nodes on the same side of every
 * kink.
 */
export function readPoint({ nodes, value, cash }: Profile, spot: number, kinks: readonly number[], notional: number) {
  const last = nodes.length - 1;
  let [low, high] = [0, last];
  for (const kink of kinks) {
    const edge = upTo(nodes, kink * (1 + 1e-12));
    const isOnNode = nodes[edge] >= kink * (1 - 1e-12);
    if (spot < kink) high = Math.min(high, edge);
    else low = Math.max(low, isOnNode ? edge : edge + 1);
  }
  const count = Math.min(POINTS, high - low + 1);
  if (count < 3) [low, high] = [0, last];
  const middle = upTo(nodes, spot);
  const nearest = middle < last && nodes[middle + 1] - spot < spot - nodes[middle] ? middle + 1 : middle;
  const width = Math.max(count, 3);
  const first = Math.min(Math.max(nearest - (width >> 1), low), high - width + 1);
  const [weights, slopes, curvatures] = fornbergWeights(spot, nodes.subarray(first, first + width), 2);
  const sum = (of: Float64Array, at: (node: number) => number): number =>
    of.reduce((total, weight, j) => total + weight * at(first + j), 0);
  return {
    value: sum(weights, value) * notional,
    cash: sum(weights, cash) * notional,
    delta: sum(slopes, value),
    gamma: sum(curvatures, value) / notional,
  } satisfies Point;
}

/** The last node at a spot or below it. */
const upTo = (nodes: Float64Array, spot: number): number => firstIndex(1, nodes.length, (i) => nodes[i] > spot) - 1;
