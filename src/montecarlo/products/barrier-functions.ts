/** What a breach of barriers does to a path: kernel functions of a product with barriers. */
import { fn, read, real } from "../../kernel/index.ts";
import { type PathProduct, productParams } from "../product.ts";
import { memoize } from "../../base/memoize.ts";
import { numberAt, SIDES, survivalOf } from "./survival.ts";

/** The positions of barriers among a product's parameters, on which the code of the kernel functions depends. */
export interface BarrierPositions {
  /** The asset of each barrier, or "each", and its side: "u0", "deach" … */
  readonly barriers: string;
  /** The number of assets. */
  readonly assets: number;
  /** The sides on which each asset has barriers (`SIDES`). */
  readonly sides: string;
  /** True where several assets are monitored between dates, so that only bounds of their survival are known. */
  readonly bounded: boolean;
  /** True where assets may have the same driver. */
  readonly shared: boolean;
}

/** The properties of a trade with barriers that its functions depend on. */
export interface BarrierShape extends BarrierPositions {
  /** The numbers of the inner product's running state and parameters, which come first. */
  readonly running: number;
  readonly parameters: number;
  readonly continuous: boolean;
  readonly includesStart: boolean;
  readonly isIn: boolean;
  readonly atBreach: boolean;
}

/** Returns the kernel functions of a product with barriers, given those of the product without them. */
export const barrierFunctions = memoize(
  (
    shape: BarrierShape,
    innerStart: PathProduct["start"],
    innerUpdate: PathProduct["update"],
    innerPayoff: PathProduct["payoff"],
    innerWidth: PathProduct["halfWidth"],
  ) => {
    const { running, parameters, continuous, atBreach, isIn, bounded } = shape;
    const paid = running + (bounded ? 2 : 1);
    const rebate = parameters + shape.barriers.split(" ").length;
    const env = { R: running, PAID: paid, REBATE: rebate, BOUNDED: bounded, AT_BREACH: atBreach };
    const survive = stepSurvival(shape);
    return {
      start: fn({
        name: "barrierStart",
        params: productParams.start,
        env: { ...env, inner: innerStart, STARTS: shape.includesStart, survive: stepSurvival(atStart(shape)) },
        body({ running, spots, p }, gpu, { R, PAID, REBATE, BOUNDED, AT_BREACH, inner, STARTS, survive }) {
          if (inner !== undefined) inner({ running, spots, p });
          let alive = gpu.real(1);
          if (STARTS) alive = survive({ before: spots, spots, variances: spots, p }).lowest;
          running[R] = alive;
          if (BOUNDED) running[R + 1] = alive;
          if (AT_BREACH) {
            running[PAID] = (1 - alive) * p[REBATE];
            running[PAID + 1] = 1;
            running[PAID + 2] = 0;
          }
        },
      }),
      update: fn({
        name: "barrierUpdate",
        params: productParams.update,
        env: { ...env, inner: innerUpdate, CONTINUOUS: continuous, survive },
        body(
          { running, spots, logs, before, variances, uniforms, p, q, t, dt, date, discount },
          gpu,
          { R, PAID, REBATE, BOUNDED, AT_BREACH, inner, CONTINUOUS, survive },
        ) {
          if (inner !== undefined)
            inner({ running, spots, logs, before, variances, uniforms, p, q, t, dt, date, discount });
          const stays = survive({ before, spots, variances, p });
          const lowest = running[R] * stays.lowest;
          const highest = BOUNDED ? running[R + 1] * stays.highest : lowest;
          if (AT_BREACH) {
            const was = BOUNDED ? 0.5 * (running[R] + running[R + 1]) : running[R];
            const breach = BOUNDED ? was - 0.5 * (lowest + highest) : running[R] * (1 - stays.lowest);
            // From the middle of the step, or from the date.
            const middle = CONTINUOUS ? 0.5 * (running[PAID + 1] + discount) : discount;
            running[PAID] = running[PAID] + breach * p[REBATE] * middle;
            if (CONTINUOUS) {
              const widths = BOUNDED ? 0.5 * (running[R + 1] - running[R] + highest - lowest) : gpu.real(0);
              const half = 0.5 * Math.abs(running[PAID + 1] - discount);
              running[PAID + 2] = running[PAID + 2] + half * (breach + widths);
            }
            running[PAID + 1] = discount;
          }
          running[R] = lowest;
          if (BOUNDED) running[R + 1] = highest;
        },
      }),
      payoff: fn({
        name: "barrierPayoff",
        params: productParams.payoff,
        env: { ...env, IN: isIn, inner: innerPayoff },
        body({ running, spots, p, t, discount }, _gpu, { R, PAID, REBATE, BOUNDED, AT_BREACH, IN, inner }) {
          const alive = BOUNDED ? 0.5 * (running[R] + running[R + 1]) : running[R];
          const value = inner({ running, spots, p, t, discount });
          const rebate = p[REBATE];
          if (IN) return (1 - alive) * value + alive * rebate;
          return alive * value + (AT_BREACH ? running[PAID] / discount : (1 - alive) * rebate);
        },
      }),
      ...(!bounded && !(atBreach && continuous) && innerWidth === undefined
        ? { halfWidth: undefined }
        : { halfWidth: widthFunction(env, innerPayoff, innerWidth) }),
    };
  },
);

interface WidthEnvironment {
  readonly R: number;
  readonly PAID: number;
  readonly REBATE: number;
  readonly BOUNDED: boolean;
  readonly AT_BREACH: boolean;
}

/** Half the distance of the bounds: of the probability of no breach, and of the times of a breach within steps. */
const widthFunction = (
  env: WidthEnvironment,
  innerPayoff: PathProduct["payoff"],
  innerWidth: PathProduct["halfWidth"],
) =>
  fn({
    name: "barrierWidth",
    params: productParams.payoff,
    env: { ...env, inner: innerPayoff, innerWidth },
    body({ running, spots, p, t, discount }, gpu, { R, PAID, REBATE, BOUNDED, AT_BREACH, inner, innerWidth }) {
      let width = gpu.real(0);
      if (innerWidth !== undefined) width += innerWidth({ running, spots, p, t, discount });
      if (BOUNDED) {
        const value = inner({ running, spots, p, t, discount });
        width += 0.5 * (running[R + 1] - running[R]) * Math.abs(value - p[REBATE]);
      }
      if (AT_BREACH) width += (running[PAID + 2] * Math.abs(p[REBATE])) / discount;
      return width;
    },
  });

/** Today's spots breach barriers as on a date. */
const atStart = (shape: BarrierShape): BarrierShape => ({
  ...shape,
  continuous: false,
  bounded: false,
  shared: false,
});

const survivalParams = { before: read(real), spots: read(real), variances: read(real), p: read(real) } as const;

/** A level that no spot reaches, and a distance in standard deviations. */
const FAR = 1e15;

/**
 * The bounds of the probability that no barrier is breached in a step, which are equal where it is known. Assets with
 * the same driver have the same bridge, seen from each of them with a barrier on a line in time. The probability that
 * none is breached is at most that of each. It is at least that of the chord of their minimum, which is concave.
 */
const stepSurvival = memoize((shape: BarrierShape) => {
  const all = shape.barriers.split(" ");
  return fn({
    name: "stepSurvival",
    params: survivalParams,
    env: {
      P: shape.parameters,
      // After the levels and the rebate.
      DEPENDENCE: shape.parameters + all.length + 1,
      A: shape.assets,
      N: all.length,
      // Bit k: barrier k is an upper one; is on each asset.
      UP: all.reduce((bits, path, k) => bits + (path.startsWith("u") ? 2 ** k : 0), 0),
      EACH: all.reduce((bits, path, k) => bits + (path.endsWith("each") ? 2 ** k : 0), 0),
      SHARED: shape.shared,
      BOUNDED: shape.bounded,
      SIDES,
      FAR,
      assetOf: numberAt(all.map((path) => Number(path.slice(1)) || 0).join(" ")),
      sidesOf: numberAt(shape.sides),
      survival: survivalOf(shape.continuous),
    },
    body(
      { before, spots, variances, p },
      gpu,
      { P, DEPENDENCE, A, N, UP, EACH, SHARED, BOUNDED, SIDES, FAR, assetOf, sidesOf, survival },
    ) {
      const near = gpu.privateReal(A);
      const far = gpu.privateReal(A);
      const each = gpu.privateReal(A);
      let product = gpu.real(1);
      let least = gpu.real(1);
      let breaches = gpu.real(0);
      for (let a = 0; a < A; a++)
        if (sidesOf(a) !== SIDES.none) {
          let upper = gpu.real(FAR);
          let lower = gpu.real(0);
          for (let k = 0; k < N; k++)
            if (((EACH >> k) & 1) === 1 || assetOf(k) === a) {
              if (((UP >> k) & 1) === 1) upper = Math.min(upper, p[P + k]);
              else lower = Math.max(lower, p[P + k]);
            }
          const variance = variances[a];
          const stays = survival({ sides: sidesOf(a), from: before[a], to: spots[a], lower, upper, variance });
          product *= stays;
          least = Math.min(least, stays);
          breaches += 1 - stays;
          if (SHARED) {
            const isUpper = sidesOf(a) === SIDES.upper;
            const level = isUpper ? upper : lower;
            const unit = (isUpper ? gpu.real(1) : gpu.real(-1)) / Math.sqrt(Math.max(variance, 1 / FAR));
            each[a] = stays;
            near[a] = unit * Math.log(level / before[a]);
            far[a] = unit * Math.log(level / spots[a]);
          }
        }
      let lowest = product;
      let highest = product;
      if (BOUNDED) {
        const isFromProduct = p[DEPENDENCE] > 0;
        const isToProduct = p[DEPENDENCE + 1] > 0;
        if (SHARED) {
          product = 1;
          highest = 1;
          breaches = 0;
          for (let g = 0; g < A; g++) {
            let start = gpu.real(FAR);
            let end = gpu.real(FAR);
            let own = gpu.real(1);
            for (let a = 0; a < A; a++)
              if (sidesOf(a) !== SIDES.none && p[DEPENDENCE + 2 + a] === g) {
                start = Math.min(start, near[a]);
                end = Math.min(end, far[a]);
                own = Math.min(own, each[a]);
              }
            const stays = start > 0 && end > 0 ? -Math.expm1(-2 * start * end) : gpu.real(0);
            product *= stays;
            highest *= own;
            breaches += 1 - stays;
          }
        }
        lowest = isFromProduct ? product : Math.max(1 - breaches, 0);
        if (!isToProduct) highest = least;
      }
      return { lowest, highest };
    },
  });
});
