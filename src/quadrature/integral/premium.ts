import { i32, kernel, read, real, write } from "../../kernel/index.ts";
import { chebyshevSeriesAt } from "./boundary.ts";
import { limitAtExpiry } from "./model.ts";

/**
 * The number of outputs of `premiumKernel` for each option: V, ∂V/∂S, ∂²V/∂S², ∂V/∂σ, and ∂V/∂r or ∂V/∂q, as the
 * boundary's input says.
 */
export const PREMIUM_OUTPUTS = 5;

/**
 * The kernel that computes the values of American puts with strike 1, given their exercise boundaries. A value is that
 * of the European put and the early-exercise premium,
 *
 *   V = p(S, T) + ∫₀^T (r·e^{−ru}·N(−d₋) − q·S·e^{−qu}·N(−d₊)) du,   d± = (ln(S/B(T−u)) + (r−q)u)/(σ√u) ± ½σ√u
 *
 * or 1 − S where S ≤ B(T). Source: Kim (1990), Carr, Jarrow & Myneni (1992). The Greeks are the derivatives of this
 * formula, including those of the boundary. With S·e^{−qu}·φ(d₊) = B·e^{−ru}·φ(d₋) one density serves all of them.
 *
 * With two boundaries the same integral over the lower one is subtracted, and V = 1 − S between them. Where they have
 * met before T, the integrals begin at the meeting time, and the derivative of V with respect to that time is 0.
 *
 * There is one work item for each option l. `boundary[l]` is the slot of its boundary in `model` (inputs) and `series`
 * (outputs), and `boundary[count + l]` is that of its lower boundary, or −1. `option[l]` is ln S. `option[count + l]`
 * is T, which may be shorter than the boundary's, and longer if two boundaries have met. `option[2·count + l]` is the
 * time to expiry at which they have met, or T. `output[i·count + l]` is output i (`PREMIUM_OUTPUTS`). Cost: about 100
 * operations and 6·nodes for each point of the integral and each boundary.
 */
const premiumOf = (hasDerivatives: boolean) =>
  kernel({
    name: hasDerivatives ? "early-exercise premium" : "early-exercise premium, values alone",
    params: {
      count: i32,
      boundaries: i32,
      nodes: i32,
      points: i32,
      rule: i32,
      table: read(real),
      model: read(real),
      series: read(real),
      boundary: read(i32),
      option: read(real),
      output: write(real),
    },
    env: { limitAtExpiry, chebyshevSeriesAt, hasDerivatives },
    body({ count, boundaries, nodes, points, rule, table, model, series, boundary, option, output }, gpu, env) {
      const l = gpu.globalId();
      if (l >= count) return;
      const own = boundary[l];
      const r = model[own];
      const q = model[boundaries + own];
      const sigma = model[2 * boundaries + own];
      const longest = model[3 * boundaries + own];
      const byRate = model[4 * boundaries + own] > 0;
      const x = option[l];
      const expiry = option[count + l];
      const spot = Math.exp(x);
      const width = nodes + 1;
      const start = own * 3 * width;
      const { atExpiry } = env.limitAtExpiry({ rate: r, dividendYield: q });
      const isEarly = r > 0 || q < r;
      const lower = boundary[count + l];
      const isPair = lower >= 0;
      const degree = nodes;
      const startLower = (isPair ? lower : own) * 3 * width;
      const lowest = isPair ? Math.log(r / q) : 0.0;
      const z = 2 * Math.sqrt(expiry / longest) - 1;
      const horizon = option[2 * count + l];
      const distance = Math.sqrt(Math.max(isEarly ? env.chebyshevSeriesAt({ series, start, degree, z }) : 0.0, 0));
      const rise = Math.sqrt(
        Math.max(isPair ? env.chebyshevSeriesAt({ series, start: startLower, degree, z }) : 0.0, 0),
      );
      const isAbove = !isPair || (horizon === expiry && x >= lowest + rise);
      if (isEarly && x <= atExpiry - distance && isAbove) {
        output[l] = -Math.expm1(x);
        if (env.hasDerivatives) {
          output[count + l] = -1;
          output[2 * count + l] = 0.0;
          output[3 * count + l] = 0.0;
          output[4 * count + l] = 0.0;
        }
        return;
      }
      // The European option.
      const discount = Math.exp(-r * expiry);
      const growth = spot * Math.exp(-q * expiry);
      const deviation = sigma * Math.sqrt(expiry);
      const d1 = (x + (r - q) * expiry) / deviation + 0.5 * deviation;
      const exercised = discount * gpu.normalCdf(deviation - d1);
      const delivered = growth * gpu.normalCdf(-d1);
      const density = growth * gpu.normalPdf(d1);
      let value = exercised - delivered;
      let toSpot = -delivered;
      let toSpotTwice = density / deviation;
      let toSigma = density * Math.sqrt(expiry);
      let toOther = expiry * (byRate ? -exercised : delivered);
      const sides = isPair ? 2 : isEarly ? 1 : 0;
      for (let side = 0; side < sides; side++) {
        const slot = side === 0 ? own : lower;
        const sign = side === 0 ? 1.0 : -1.0;
        const from = slot * 3 * width;
        const rate = model[slot];
        const dividendYield = model[boundaries + slot];
        const limits = env.limitAtExpiry({ rate, dividendYield });
        const byOwnRate = model[4 * boundaries + slot] > 0;
        const limitByOther = limits.isBelow ? (byOwnRate ? 1 / rate : -1 / dividendYield) : 0.0;
        for (let j = 0; j < points; j++) {
          const u = expiry - horizon + horizon * table[rule + 2 * j];
          const weight = sign * horizon * table[rule + 2 * j + 1];
          const at = 2 * Math.sqrt((expiry - u) / longest) - 1;
          const h = Math.max(env.chebyshevSeriesAt({ series, start: from, degree, z: at }), 1e-30);
          const depth = Math.sqrt(h);
          const logLevel = sign * (limits.atExpiry - depth);
          const level = Math.exp(logLevel);
          const s = sigma * Math.sqrt(u);
          const inverse = 1 / s;
          const low = (x - logLevel + (r - q) * u) * inverse - 0.5 * s;
          const high = low + s;
          const paid = weight * Math.exp(-r * u);
          const lost = weight * spot * Math.exp(-q * u) * gpu.normalCdf(-high);
          const probability = paid * gpu.normalCdf(-low);
          value += r * probability - q * lost;
          if (env.hasDerivatives) {
            const slope = (-0.5 * sign) / depth;
            const bySigma = slope * env.chebyshevSeriesAt({ series, start: from + width, degree, z: at });
            const byOther =
              sign * limitByOther + slope * env.chebyshevSeriesAt({ series, start: from + 2 * width, degree, z: at });
            // Of the income r − q·B at the boundary, per unit of d₋.
            const edge = paid * gpu.normalPdf(low);
            const income = edge * (r - q * level);
            toSpot -= q * lost + income * inverse;
            toSpotTwice += inverse * (r * edge * (1 + low * inverse) - q * level * edge * (high * inverse - 1));
            toSigma += income * inverse * bySigma + (edge * (r * high - q * level * low)) / sigma;
            toOther += byRate
              ? (1 - r * u) * probability - income * inverse * (u - byOther)
              : (q * u - 1) * lost + income * inverse * (u + byOther);
          }
        }
      }
      output[l] = value;
      if (env.hasDerivatives) {
        output[count + l] = toSpot / spot;
        output[2 * count + l] = toSpotTwice / (spot * spot);
        output[3 * count + l] = toSigma;
        output[4 * count + l] = toOther;
      }
    },
  });

/** The kernel of values and derivatives, and that of values alone, whose only output is the first. */
export const premiumKernel = premiumOf(true);
export const premiumValueKernel = premiumOf(false);
