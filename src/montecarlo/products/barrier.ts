/** Knock-outs and knock-ins of any product. */
import { ShapeError, SpecError } from "../../base/errors.ts";
import { checkFields, checkOneOf } from "../../base/argument-checks.ts";
import { type Column, columnAt, failuresOf, type Parameters } from "../parameters.ts";
import type { PathProduct } from "../product.ts";
import { barrierFunctions, type BarrierPositions, type BarrierShape } from "./barrier-functions.ts";
import { SIDES } from "./survival.ts";

/** A barrier on one of the assets, or on each. @experimental */
export interface PathBarrier {
  readonly type: "up-and-out" | "down-and-out" | "up-and-in" | "down-and-in";
  readonly level: Column;
  /** The number of its asset, from 0; 0 by default. "each": all assets have it. */
  readonly asset?: number | "each";
}

const TYPES: readonly PathBarrier["type"][] = ["up-and-out", "down-and-out", "up-and-in", "down-and-in"];

/**
 * The dependence between the bridges of different assets in a step, as far as it bounds their joint survival P by the
 * survival pᵢ of each: "independent", P = Π pᵢ; "positive", Π pᵢ ≤ P ≤ min pᵢ; "negative", 1 − Σ (1 − pᵢ) ≤ P ≤ Π pᵢ;
 * "any", 1 − Σ (1 − pᵢ) ≤ P ≤ min pᵢ.
 * @experimental
 */
export type BridgeDependence = "independent" | "positive" | "negative" | "any";

/** The settings of `withBarriers`. @experimental */
export interface BarrierSettings {
  readonly product: PathProduct;
  /** The barriers: all knock out, or all knock in; a breach of any of them counts. */
  readonly barriers: readonly PathBarrier[];
  /** The monitoring: "dates", or "continuous" (the default), between dates by Brownian bridges. */
  readonly monitoring?: "dates" | "continuous";
  /** True where a breach at time 0 counts, too: by default with continuous monitoring. */
  readonly includesStart?: boolean;
  /** The cash paid by a trade that is knocked out, or never knocked in; 0 by default. */
  readonly rebate?: Column;
  /** The payment time of a knock-out's rebate: "expiry", the default, or "breach". */
  readonly rebateAt?: "expiry" | "breach";
  /**
   * The dependence of the bridges of different assets, for all instances or for each; "any" by default. "positive" are
   * correlations ρ ≥ 0 of assets with barriers on one and the same side, or ρ ≤ 0 of those with barriers on opposite
   * sides, "negative" the other way round.
   */
  readonly dependence?: BridgeDependence | readonly BridgeDependence[];
  /**
   * The number of the driver of each asset, from 0 and below the number of assets; by default each has its own. Assets
   * with the same driver have a correlation of 1, barriers on one and the same side, and the same bridge.
   */
  readonly drivers?: readonly Column[];
}

const FIELDS = ["product", "barriers", "monitoring", "includesStart", "rebate", "rebateAt", "dependence", "drivers"];
const DEPENDENCES: readonly BridgeDependence[] = ["independent", "positive", "negative", "any"];

/**
 * Returns a product that a breach of barriers ends (out) or activates (in). The path carries the conditional
 * probability that no barrier was breached, given its values at the steps, as a weight of payoffs, which avoids
 * sampling the breach:
 *
 *   P(no breach of B between x and y) = 1 − exp(−2·ln(B/x)·ln(B/y)/w),   w the variance of ln S over the step
 *
 * Two barriers of one asset have the series of their corridor. Between bridges of several assets only bounds are known
 * (`BridgeDependence`): the value lies in the middle of the bounds' values, and `halfWidth` is half their distance,
 * which falls with the step, like its root at worst.
 *
 * Accuracy: exact for the barriers of one asset under Black and Scholes, with any steps, and for independent assets. A
 * rebate at breach is discounted from the middle of its step, and `halfWidth` contains the half of it. On dates a
 * knock-out is exact. Source: Glasserman (2004), section 6.4. Verified: test/montecarlo/reference.test.ts,
 * test/montecarlo/barriers.test.ts.
 *
 * @param settings the product, barriers, monitoring, rebate, and how bridges depend on each other.
 * @throws SpecError | ShapeError
 * @example
 * import { european, withBarriers } from "feynkac/montecarlo";
 *
 * const barriers = [{ type: "down-and-out", level: 90 }] as const;
 * const product = withBarriers({ product: european({ payoff: "call", strike: 100 }), barriers });
 * console.log(product.name, product.running); // European call, down-and-out 1
 * @experimental
 */
export function withBarriers(settings: BarrierSettings): PathProduct {
  checkBarriers(settings);
  const { product: inner, barriers, monitoring = "continuous", rebate = 0, rebateAt = "expiry" } = settings;
  const continuous = monitoring === "continuous";
  const failures = barriers.flatMap(({ level }, k) =>
    failuresOf(`withBarriers: barriers[${k}].level`, level, "a positive number", (x) => x > 0),
  );
  const levels: Parameters = Object.fromEntries(barriers.map(({ level }, k) => [`barrier${k + 1}`, level]));
  const assets = Math.max(inner.assets ?? 1, ...barriers.map(({ asset = 0 }) => (asset === "each" ? 1 : asset + 1)));
  const places = placesOf(settings, assets);
  const atBreach = rebateAt === "breach";
  const shape: BarrierShape = {
    ...places,
    running: inner.running,
    parameters: Object.keys(inner.parameters).length,
    continuous,
    includesStart: settings.includesStart ?? continuous,
    isIn: barriers[0].type.endsWith("in"),
    atBreach,
  };
  return {
    ...inner,
    name: `${inner.name}, ${barriers.map(({ type }) => type).join(", ")}`,
    assets,
    // The inner product's numbers; the probability of no breach, or its bounds; rebates paid, discounted; the discount
    // factor to the start of the step; half the discounting of steps with a breach.
    running: inner.running + (places.bounded ? 2 : 1) + (atBreach ? 3 : 0),
    parameters: { ...inner.parameters, ...levels, rebate, ...(places.bounded ? dependenceColumns(settings) : {}) },
    failures: [...(inner.failures ?? []), ...failures],
    ...(continuous ? { monitoring: "bridge" } : {}),
    ...barrierFunctions(shape, inner.start, inner.update, inner.payoff, inner.halfWidth),
    ...(continuous ? {} : { isDiscontinuous: true }),
  };
}

/** @throws SpecError | ShapeError */
function checkBarriers(settings: BarrierSettings): void {
  checkFields("withBarriers", settings, FIELDS);
  const { product: inner, barriers, monitoring = "continuous", rebateAt = "expiry" } = settings;
  if (barriers.length === 0) throw new ShapeError("withBarriers: barriers: got none, expected at least one");
  barriers.forEach((barrier, k) => {
    checkFields(`withBarriers: barriers[${k}]`, barrier, ["type", "level", "asset"]);
    checkOneOf(`withBarriers: barriers[${k}].type`, barrier.type, TYPES);
  });
  checkOneOf("withBarriers: monitoring", monitoring, ["dates", "continuous"]);
  checkOneOf("withBarriers: rebateAt", rebateAt, ["expiry", "breach"]);
  for (const one of dependencesOf(settings)) checkOneOf("withBarriers: dependence", one, DEPENDENCES);
  const isIn = barriers[0].type.endsWith("in");
  if (barriers.some(({ type }) => type.endsWith("in") !== isIn))
    throw new SpecError(
      "withBarriers: barriers: got knock-outs and knock-ins, expected one kind: price their difference",
    );
  if (isIn && rebateAt === "breach")
    throw new SpecError(`withBarriers: rebateAt: got "breach" of a knock-in, expected "expiry"`);
  if (inner.monitoring !== undefined && monitoring === "dates")
    throw new SpecError(
      `withBarriers: monitoring: got "dates" around "${inner.name}", which is monitored between them; expected "continuous"`,
    );
  if (inner.dated !== undefined)
    throw new SpecError(`withBarriers: product: got "${inner.name}", whose parameters depend on the step`);
  if (barriers.length > 30) throw new ShapeError(`withBarriers: barriers: got ${barriers.length}, expected at most 30`);
}

const dependencesOf = ({ dependence = "any" }: BarrierSettings): readonly BridgeDependence[] =>
  typeof dependence === "string" ? [dependence] : dependence;

/** Whether the product of each survival is the lower bound, and the upper one; then the driver of each asset. */
function dependenceColumns(settings: BarrierSettings): Parameters {
  const all = dependencesOf(settings);
  const column = (...kinds: readonly BridgeDependence[]): Column => all.map((one) => (kinds.includes(one) ? 1 : 0));
  return {
    isFromProduct: column("independent", "positive"),
    isToProduct: column("independent", "negative"),
    ...Object.fromEntries((settings.drivers ?? []).map((driver, a) => [`driver${a + 1}`, driver])),
  };
}

function placesOf({ barriers, monitoring, drivers = [] }: BarrierSettings, assets: number): BarrierPositions {
  const each = Array.from({ length: assets }, (_, a) => a);
  const sides = each.map((a) =>
    barriers
      .filter(({ asset = 0 }) => asset === "each" || asset === a)
      .reduce((bits, { type }) => bits | (type.startsWith("up") ? SIDES.upper : SIDES.lower), SIDES.none as number),
  );
  if (drivers.length > 0 && drivers.length !== assets)
    throw new ShapeError(`withBarriers: drivers: got ${drivers.length}, expected ${assets}, one for each asset`);
  const monitored = each.filter((a) => sides[a] !== SIDES.none);
  const width = Math.max(1, ...drivers.map((driver) => (typeof driver === "number" ? 1 : driver.length)));
  for (let i = 0; drivers.length > 0 && i < width; i++)
    for (const a of monitored) {
      const first = monitored.find((other) => columnAt(drivers[other], i) === columnAt(drivers[a], i))!;
      if (first !== a && (sides[a] !== sides[first] || sides[a] === SIDES.both))
        throw new SpecError(
          `withBarriers: drivers: got the same of the assets ${first} and ${a}, which have barriers on two sides; ` +
            `expected different ones`,
        );
    }
  return {
    barriers: barriers.map(({ type, asset = 0 }) => `${type.startsWith("up") ? "u" : "d"}${asset}`).join(" "),
    assets,
    sides: sides.join(" "),
    bounded: monitored.length > 1 && monitoring !== "dates",
    shared: drivers.length > 0,
  };
}
