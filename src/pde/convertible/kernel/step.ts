import { fn, i32, real } from "../../../kernel/index.ts";
import { Memory, Step, Terms } from "./records.ts";
import { capAt, cashAt, floorAt, NO_CALL_PRICE } from "./terms.ts";

/** The weight of a violated constraint, in units of the entry of V itself, without the operator. */
const PENALTY = 1e6;

/** Differences that are rounding, relative to the value. */
const TIE = 1e-13;

/** Policy iterations of a step: two are usual; after an event a region may grow by one node in each. */
const MAX_ITERATIONS = 400;

/**
 * A row of the operator, σ²S²/2 ∂²/∂S² + drift·S ∂/∂S, times Δt: what multiplies the values at the distances `below`
 * and `above`. Where the drift prevails, differences are taken upwind.
 */
const rowAt = fn({
  name: "rowAt",
  params: { here: real, below: real, above: real, variance: real, drift: real },
  body({ here, below, above, variance, drift }) {
    const scaled = here / (below + above);
    const low = (scaled * (variance * here - drift * above)) / below;
    const high = (scaled * (variance * here + drift * below)) / above;
    return {
      low: low < 0 ? 0.0 : high < 0 ? low - (high * above) / below : low,
      high: high < 0 ? 0.0 : low < 0 ? high - (low * below) / above : high,
    };
  },
});

/** The coefficients of the equation that depend on the spot. The code of the kernel differs with them. */
export interface LocalCoefficients {
  /** True where σ depends on the spot; `varianceFactor` then has σ² at the nodes. */
  readonly localVolatility: boolean;
  /** True where the hazard rate depends on the spot; `hazardFactor` then has its factor at the nodes. */
  readonly localHazard: boolean;
}

/** The coefficients of a node's row, times Δt; `diagonal`: without the parts of BDF2 and of the operator. */
const coefficientsAt = ({ localVolatility, localHazard }: LocalCoefficients) =>
  fn({
    name: "coefficientsAt",
    params: { memory: Memory, step: Step, i: i32 },
    env: { localVolatility, localHazard },
    body({ memory: { varianceFactor, hazardFactor }, step, i }, _gpu, env) {
      const variance = env.localVolatility ? step.variance * varianceFactor[i] : step.variance;
      const hazard = env.localHazard ? step.hazard * hazardFactor[i] : step.hazard;
      return {
        variance,
        hazard,
        drift: step.drift + hazard * step.jump,
        diagonal: step.discount + hazard,
      };
    },
  });

/** The mean of max(R, k·S) over the cell of a node, which has a kink where default recovers as much as conversion. */
const recoveredAt = fn({
  name: "recoveredAt",
  params: { below: real, here: real, above: real, recovery: real, ratio: real },
  body({ below, here, above, recovery, ratio }) {
    const low = 0.5 * (below + here);
    const high = 0.5 * (here + above);
    const kink = ratio > 0 ? recovery / ratio : high;
    if (kink >= high || high <= low) return recovery;
    if (kink <= low) return ratio * here;
    return recovery + (0.5 * ratio * (high - kink) * (high - kink)) / (high - low);
  },
});

/** Returns the function that computes the matrix rows of all nodes for the length of a time step. */
export const prepareRows = (shape: LocalCoefficients) =>
  fn({
    name: "prepareRows",
    params: { memory: Memory, step: Step },
    env: { coefficientsAt: coefficientsAt(shape), rowAt, recoveredAt },
    body({ memory, step }, _gpu, env) {
      const { s, low, diagonal, high, recovered } = memory;
      const last = step.nodes - 1;
      for (let i = 0; i <= last; i++) {
        const here = s[i];
        const at = env.coefficientsAt({ memory, step, i });
        const before = s[Math.max(i - 1, 0)];
        const after = s[Math.min(i + 1, last)];
        let lower = 0.0;
        let upper = 0.0;
        if (i > 0 && i < last) {
          const row = env.rowAt({
            here,
            below: here - before,
            above: after - here,
            variance: at.variance,
            drift: at.drift,
          });
          lower = row.low;
          upper = row.high;
        }
        // Beyond the last node V is linear.
        if (i === last) lower = (-at.drift * here) / (here - before);
        low[i] = lower;
        high[i] = upper;
        diagonal[i] = at.diagonal + lower + upper;
        recovered[i] = 0.0;
        if (at.hazard !== 0)
          recovered[i] =
            at.hazard *
            env.recoveredAt({ below: before, here, above: after, recovery: step.recovery, ratio: step.ratioAtDefault });
      }
    },
  });

/**
 * Returns the function that makes one implicit step of V. The constraints of call, put and conversion are part of the
 * implicit solution, by the penalty method in the form of policy iteration (Forsyth & Vetzal 2002): nodes beyond their
 * bounds are penalised, until no node changes between held and exercised. The cash-only part on the right-hand side is
 * extrapolated from two earlier steps, which is of second order too.
 *
 * Where a call forces conversion, V = k·S from the spot P/k on (P the call price), between two nodes. The node before
 * it has a matrix row for that shorter distance (Shortley & Weller 1938).
 */
export const stepValue = (shape: LocalCoefficients) =>
  fn({
    name: "stepValue",
    params: { memory: Memory, step: Step, terms: Terms },
    env: { coefficientsAt: coefficientsAt(shape), rowAt, floorAt, capAt, NO_CALL_PRICE, PENALTY, TIE, MAX_ITERATIONS },
    body({ memory, step, terms }, _gpu, env) {
      const { s, low, diagonal, high, recovered, v, vBefore, vNext, b, bBefore, right, upper, rhs, status } = memory;
      const { nodes, alpha0, alpha1, alpha2, spread } = step;
      for (let i = 0; i < nodes; i++) {
        let known = alpha1 * v[i] + alpha2 * vBefore[i] + recovered[i];
        if (spread !== 0) known -= spread * (b[i] + (b[i] - bBefore[i]) * (alpha1 - 1));
        right[i] = known;
      }
      // The node before the spot of forced conversion, or −1.
      let edge = -1;
      let lowKept = 0.0;
      let diagonalKept = 0.0;
      let highKept = 0.0;
      if (terms.ratio > 0 && terms.call < 0.5 * env.NO_CALL_PRICE) {
        const forced = terms.call / terms.ratio;
        let before = 0;
        for (let i = 1; i < nodes - 1; i++) if (s[i] < forced) before = i;
        if (before > 0 && s[before] >= terms.trigger && forced < s[before + 1]) {
          edge = before;
          lowKept = low[before];
          diagonalKept = diagonal[before];
          highKept = high[before];
          const at = env.coefficientsAt({ memory, step, i: before });
          const here = s[before];
          const row = env.rowAt({
            here,
            below: here - s[before - 1],
            above: forced - here,
            variance: at.variance,
            drift: at.drift,
          });
          low[before] = row.low;
          diagonal[before] = at.diagonal + row.low + row.high;
          high[before] = 0.0;
          right[before] += row.high * terms.call;
        }
      }
      let changes = 1;
      let iteration = 0;
      while (changes > 0 && iteration < env.MAX_ITERATIONS) {
        let upperBefore = 0.0;
        let rhsBefore = 0.0;
        for (let i = 0; i < nodes; i++) {
          const now = status[i];
          const target = now < 1.5 ? env.floorAt({ s: s[i], terms }) : env.capAt({ s: s[i], terms });
          const pull = now !== 0 ? env.PENALTY : 0.0;
          const lower = low[i];
          const pivot = 1 / (alpha0 + diagonal[i] + pull - lower * upperBefore);
          rhsBefore = (right[i] + pull * target + lower * rhsBefore) * pivot;
          upperBefore = high[i] * pivot;
          upper[i] = upperBefore;
          rhs[i] = rhsBefore;
        }
        changes = 0;
        let y = 0.0;
        for (let i = nodes - 1; i >= 0; i--) {
          y = rhs[i] + upper[i] * y;
          vNext[i] = y;
          const floor = env.floorAt({ s: s[i], terms });
          const cap = env.capAt({ s: s[i], terms });
          const now = status[i];
          // Where holding and exercise are worth the same, rounding would change sides for ever.
          const isTied = (now === 2 ? Math.abs(y - cap) : Math.abs(y - floor)) < env.TIE * (1 + floor);
          const next = cap <= floor ? 2.0 : isTied ? now : y > cap ? 2.0 : y < floor ? 1.0 : 0.0;
          if (next !== now) changes++;
          status[i] = next;
        }
        iteration++;
      }
      if (edge >= 0) {
        low[edge] = lowKept;
        diagonal[edge] = diagonalKept;
        high[edge] = highKept;
      }
      return changes;
    },
  });

/**
 * The distance beyond a held node at which the region of exercise begins, where V touches its bound smoothly. `gain` is
 * how far V is from the bound at the node, `gainBefore` at the node before, `h` and `hBefore` are the distances to the
 * first node of the region and to the node before. The region's share of the row at its first node follows from the
 * balance of the discrete equation: with it the boundary is known to second order.
 */
const reachOf = fn({
  name: "reachOf",
  params: { gain: real, gainBefore: real, h: real, hBefore: real },
  body({ gain, gainBefore, h, hBefore }) {
    const curvature = (2 * ((gainBefore - gain) / hBefore - gain / h)) / (h + hBefore);
    const share = curvature > 0 ? gain / (curvature * h * h) : 1.0;
    return h * (0.5 + Math.min(Math.max(share, 0), 1));
  },
});

/**
 * Returns the function that makes one implicit step of the cash-only part B, whose value is known where the bond is
 * exercised. Matrix rows of the nodes next to the exercise region reach to its boundary between nodes (Shortley &
 * Weller 1938).
 */
export const stepCash = (shape: LocalCoefficients) =>
  fn({
    name: "stepCash",
    params: { memory: Memory, step: Step, terms: Terms, calledCash: real },
    env: { coefficientsAt: coefficientsAt(shape), rowAt, reachOf, floorAt, capAt, cashAt },
    body({ memory, step, terms, calledCash }, _gpu, env) {
      const { s, low, diagonal, high, vNext, b, bBefore, upper, rhs, status } = memory;
      const { nodes, alpha0, alpha1, alpha2 } = step;
      const forced = terms.ratio > 0 ? terms.call / terms.ratio : 0.0;
      let upperBefore = 0.0;
      let rhsBefore = 0.0;
      for (let i = 0; i < nodes; i++) {
        const here = s[i];
        let entry = 1.0;
        let right = 0.0;
        let below = 0.0;
        let above = 0.0;
        if (status[i] !== 0) right = env.cashAt({ s: here, terms, status: status[i], calledCash });
        else {
          right = alpha1 * b[i] + alpha2 * bBefore[i];
          below = 0.0;
          let isBelow = false;
          let isAbove = false;
          let cashBelow = 0.0;
          let cashAbove = 0.0;
          let reachBelow = i > 0 ? here - s[i - 1] : 1.0;
          let reachAbove = i < nodes - 1 ? s[i + 1] - here : 1.0;
          if (i > 0 && i < nodes - 1) {
            const before = status[i - 1];
            const after = status[i + 1];
            const hBelow = reachBelow;
            const hAbove = reachAbove;
            if (after !== 0) {
              isAbove = true;
              cashAbove = env.cashAt({ s: s[i + 1], terms, status: after, calledCash });
              if (after > 1.5 && here < terms.trigger) reachAbove = hAbove;
              else if (after > 1.5 && here < forced && forced < s[i + 1]) reachAbove = forced - here;
              else {
                const isLow = after < 1.5;
                const bound = isLow ? env.floorAt({ s: here, terms }) : env.capAt({ s: here, terms });
                const boundBefore = isLow ? env.floorAt({ s: s[i - 1], terms }) : env.capAt({ s: s[i - 1], terms });
                reachAbove = env.reachOf({
                  gain: Math.abs(vNext[i] - bound),
                  gainBefore: Math.abs(vNext[i - 1] - boundBefore),
                  h: hAbove,
                  hBefore: hBelow,
                });
              }
            }
            if (before !== 0) {
              isBelow = true;
              cashBelow = env.cashAt({ s: s[i - 1], terms, status: before, calledCash });
              const isLow = before < 1.5;
              const bound = isLow ? env.floorAt({ s: here, terms }) : env.capAt({ s: here, terms });
              const boundAfter = isLow ? env.floorAt({ s: s[i + 1], terms }) : env.capAt({ s: s[i + 1], terms });
              reachBelow = env.reachOf({
                gain: Math.abs(vNext[i] - bound),
                gainBefore: Math.abs(vNext[i + 1] - boundAfter),
                h: hBelow,
                hBefore: hAbove,
              });
            }
          }
          if (isBelow || isAbove) {
            const at = env.coefficientsAt({ memory, step, i });
            const row = env.rowAt({
              here,
              below: reachBelow,
              above: reachAbove,
              variance: at.variance,
              drift: at.drift,
            });
            entry = alpha0 + step.spread + at.diagonal + row.low + row.high;
            if (isBelow) right += row.low * cashBelow;
            else below = row.low;
            if (isAbove) right += row.high * cashAbove;
            else above = row.high;
          } else {
            below = low[i];
            above = high[i];
            entry = alpha0 + step.spread + diagonal[i];
          }
        }
        const pivot = 1 / (entry - below * upperBefore);
        rhsBefore = (right + below * rhsBefore) * pivot;
        upperBefore = above * pivot;
        upper[i] = upperBefore;
        rhs[i] = rhsBefore;
      }
      let y = 0.0;
      for (let i = nodes - 1; i >= 0; i--) {
        y = rhs[i] + upper[i] * y;
        bBefore[i] = b[i];
        b[i] = y;
      }
    },
  });
