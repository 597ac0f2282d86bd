/** Knock-outs and knock-ins of any product. */
import { ShapeError, SpecError } from "../../errors.ts";
import { knownFields, oneOf } from "../../given.ts";
import { fn, functionFromSource, i32, real } from "../../kernel/index.ts";
import { type Column, failuresOf, type Parameters } from "../parameters.ts";
import { type PathProduct, productParams } from "../product.ts";
import { remembered } from "../../remembered.ts";

/** A barrier on one of the assets, or on each. */
export interface PathBarrier {
  readonly type: "up-and-out" | "down-and-out" | "up-and-in" | "down-and-in";
  readonly level: Column;
  /** The number of its asset, from 0; 0 by default. "each": all assets have it. */
  readonly asset?: number | "each";
}

const TYPES: readonly PathBarrier["type"][] = ["up-and-out", "down-and-out", "up-and-in", "down-and-in"];

/** The settings of `withBarriers`. */
export interface BarrierSettings {
  readonly product: PathProduct;
  /** The barriers: all knock out, or all knock in; a breach of any of them counts. */
  readonly barriers: readonly PathBarrier[];
  /** The monitoring: "dates", or "continuous" (the default), between dates by Brownian bridges. */
  readonly monitoring?: "dates" | "continuous";
  /** The cash paid by a trade that is knocked out, or never knocked in; 0 by default. */
  readonly rebate?: Column;
  /** The payment time of a knock-out's rebate: "expiry", the default, or "breach". */
  readonly rebateAt?: "expiry" | "breach";
}

/**
 * Returns a product that a breach of barriers ends (out) or activates (in). The path carries the conditional
 * probability that no barrier was breached, given its values at the steps, as a weight of payoffs, which avoids
 * sampling the breach:
 *
 *   P(no breach of B between x and y) = 1 − exp(−2·ln(B/x)·ln(B/y)/w),   w the variance of ln S over the step
 *
 * Accuracy: exact for one barrier under Black and Scholes, with any steps. With several barriers the probabilities of a
 * step are multiplied, with an error that falls fast with the step. A rebate at breach is discounted from the middle of
 * its step. On dates a knock-out is exact. Source: Glasserman (2004), section 6.4. Verified:
 * test/montecarlo/reference.test.ts.
 *
 * @param settings the product, barriers, monitoring and rebate.
 * @throws SpecError | ShapeError
 * @example
 * import { european, withBarriers } from "feynkac/montecarlo";
 *
 * const barriers = [{ type: "down-and-out", level: 90 }] as const;
 * const product = withBarriers({ product: european({ payoff: "call", strike: 100 }), barriers });
 * console.log(product.name, product.running); // European call, down-and-out 1
 */
export function withBarriers(settings: BarrierSettings): PathProduct {
  knownFields("withBarriers", settings, ["product", "barriers", "monitoring", "rebate", "rebateAt"]);
  const { product: inner, barriers, monitoring = "continuous", rebate = 0, rebateAt = "expiry" } = settings;
  if (barriers.length === 0) throw new ShapeError("withBarriers: barriers: got none, expected at least one");
  barriers.forEach((barrier, k) => {
    knownFields(`withBarriers: barriers[${k}]`, barrier, ["type", "level", "asset"]);
    oneOf(`withBarriers: barriers[${k}].type`, barrier.type, TYPES);
  });
  oneOf("withBarriers: monitoring", monitoring, ["dates", "continuous"]);
  oneOf("withBarriers: rebateAt", rebateAt, ["expiry", "breach"]);
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
  if (barriers.length > 30) throw new ShapeError(`withBarriers: barriers: got ${barriers.length}, expected at most 30`);
  const failures = barriers.flatMap(({ level }, k) =>
    failuresOf(`withBarriers: barriers[${k}].level`, level, "a positive number", (x) => x > 0),
  );
  const levels: Parameters = Object.fromEntries(barriers.map(({ level }, k) => [`barrier${k + 1}`, level]));
  const assets = Math.max(inner.assets ?? 1, ...barriers.map(({ asset = 0 }) => (asset === "each" ? 1 : asset + 1)));
  const places = barriers.map(({ type, asset = 0 }) => `${type.startsWith("up") ? "u" : "d"}${asset}`).join(" ");
  const continuous = monitoring === "continuous";
  const layout = [inner.running, Object.keys(inner.parameters).length, assets].join(" ");
  return {
    ...inner,
    name: `${inner.name}, ${barriers.map(({ type }) => type).join(", ")}`,
    assets,
    // The inner product's numbers; the probability of no breach; rebates paid, discounted;
    // the discount factor to the start of the step.
    running: inner.running + (rebateAt === "breach" ? 3 : 1),
    parameters: { ...inner.parameters, ...levels, rebate },
    failures: [...(inner.failures ?? []), ...failures],
    ...(continuous ? { monitoring: "bridge" } : {}),
    ...barrierFunctions(
      places,
      layout,
      continuous,
      isIn,
      rebateAt === "breach",
      inner.start,
      inner.update,
      inner.payoff,
    ),
    isDiscontinuous: !continuous || inner.isDiscontinuous === true,
  };
}

const barrierFunctions = remembered(
  (
    places: string,
    layout: string,
    continuous: boolean,
    isIn: boolean,
    atBreach: boolean,
    innerStart: PathProduct["start"],
    innerUpdate: PathProduct["update"],
    innerPayoff: PathProduct["payoff"],
  ) => {
    const [running, parameters, assets] = layout.split(" ").map(Number);
    const all = places.split(" ");
    const env = {
      R: running,
      P: parameters,
      A: assets,
      N: all.length,
      // Bit k: barrier k is an upper one; is on each asset.
      UP: all.reduce((bits, place, k) => bits + (place.startsWith("u") ? 2 ** k : 0), 0),
      EACH: all.reduce((bits, place, k) => bits + (place.endsWith("each") ? 2 ** k : 0), 0),
      CONTINUOUS: continuous,
      AT_BREACH: atBreach,
      survival: survivalOf(continuous),
    };
    const assetOf = assetFunction(all.map((place) => Number(place.slice(1)) || 0).join(" "));
    return {
      start: fn({
        name: "barrierStart",
        params: productParams.start,
        env: { ...env, inner: innerStart, assetOf },
        body({ running, spots, p }, gpu, { R, P, A, N, UP, EACH, AT_BREACH, inner, assetOf }) {
          if (inner !== undefined) inner({ running, spots, p });
          let alive = gpu.real(1);
          for (let k = 0; k < N; k++)
            for (let a = 0; a < A; a++)
              if (((EACH >> k) & 1) === 1 || assetOf(k) === a) {
                const breached = ((UP >> k) & 1) === 1 ? spots[a] >= p[P + k] : spots[a] <= p[P + k];
                if (breached) alive = 0;
              }
          running[R] = alive;
          if (AT_BREACH) {
            running[R + 1] = (1 - alive) * p[P + N];
            running[R + 2] = 1;
          }
        },
      }),
      update: fn({
        name: "barrierUpdate",
        params: productParams.update,
        env: { ...env, inner: innerUpdate, assetOf },
        body(
          { running, spots, logs, before, variances, uniforms, p, t, dt, date, discount },
          gpu,
          { R, P, A, N, UP, EACH, AT_BREACH, survival, inner, assetOf },
        ) {
          if (inner !== undefined)
            inner({ running, spots, logs, before, variances, uniforms, p, t, dt, date, discount });
          let stays = gpu.real(1);
          for (let k = 0; k < N; k++)
            for (let a = 0; a < A; a++)
              if (((EACH >> k) & 1) === 1 || assetOf(k) === a) {
                const sign = ((UP >> k) & 1) === 1 ? gpu.real(1) : gpu.real(-1);
                stays *= survival(before[a], spots[a], p[P + k], sign, variances[a]);
              }
          if (AT_BREACH) {
            // From the middle of the step.
            const middle = 0.5 * (running[R + 2] + discount);
            running[R + 1] = running[R + 1] + running[R] * (1 - stays) * p[P + N] * middle;
            running[R + 2] = discount;
          }
          running[R] = running[R] * stays;
        },
      }),
      payoff: fn({
        name: "barrierPayoff",
        params: productParams.payoff,
        env: { ...env, IN: isIn, inner: innerPayoff },
        body({ running, spots, p, t, discount }, _gpu, { R, P, N, AT_BREACH, IN, inner }) {
          const alive = running[R];
          const value = inner({ running, spots, p, t, discount });
          const rebate = p[P + N];
          if (IN) return (1 - alive) * value + alive * rebate;
          return alive * value + (AT_BREACH ? running[R + 1] / discount : (1 - alive) * rebate);
        },
      }),
    };
  },
);

/** The asset of a barrier, from its number: a constant wherever loops are unrolled. */
const assetFunction = remembered((assets: string) => {
  const list = assets.split(" ");
  const body = list.reduceRight((rest, asset, k) => `k === ${k} ? ${asset} : ${rest}`, "0");
  return functionFromSource<readonly [typeof i32], number>({
    name: "assetOf",
    params: [i32],
    source: `([k]) => ${body}`,
  });
});

/** P(no breach) between two ends, for an upper barrier with sign 1 and a lower one with −1. */
const survivalOf = remembered((continuous: boolean) =>
  fn({
    name: "survival",
    params: [real, real, real, real, real],
    env: { CONTINUOUS: continuous },
    body([from, to, level, sign, variance], _gpu, { CONTINUOUS }) {
      const b = sign * (level - to);
      if (!CONTINUOUS) return b > 0 ? 1 : 0;
      const a = sign * (level - from);
      const exponent = (-2 * Math.log(level / from) * Math.log(level / to)) / Math.max(variance, 1e-30);
      return a > 0 && b > 0 ? -Math.expm1(exponent) : 0;
    },
  }),
);
