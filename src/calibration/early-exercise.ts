/** American and European options on one mesh, whose difference is the premium of early exercise. */
import { bool, fn, i32, kernel, read, real, record, write } from "../kernel/index.ts";

/**
 * The number of reals of each option in the array `quote`: strike, sign, level of volatility, first node, and the mesh
 * width.
 */
export const QUOTE_REALS = 5;
/**
 * The number of reals of each time step in the array `step`: Δt, ∫r, θ, and scale and cash at its start, after and
 * before dividends.
 */
export const STEP_REALS = 7;
/** The number of integers of each option in the array `stepRange`: its first time step and its number of steps. */
export const STEP_RANGE_INTEGERS = 2;
/** The number of work arrays of an option, each with one real per node. */
export const WORK_ARRAYS = 6;

/** The value at 0 of the cubic through four values at the distance `at` (in mesh widths) before 0. */
const cubicAt = fn({
  name: "cubicAt",
  params: { at: real, a: real, b: real, c: real, d: real },
  body({ at, a, b, c, d }) {
    const left = at + 1;
    const right = 1 - at;
    const far = 2 - at;
    return (
      (-at * right * far * a) / 6 +
      (left * right * far * b) / 2 +
      (left * at * far * c) / 2 -
      (left * at * right * d) / 6
    );
  },
});

/**
 * The volatility of X on the mesh: its squares are square[step][node], or where it `isFlat` the spot scale·X + cash has
 * the volatility `level`, so that X has level·(X + cash/scale)/X.
 */
const Squares = record({ isFlat: bool, level: real, nodes: i32, square: read(real) });

/** ½σ²Δt at a node of a step where X is `x` and cash/scale is `shift`, 0 at both ends. */
const halfVariance = fn({
  name: "halfVariance",
  params: { of: Squares, elapsed: real, n: i32, j: i32, x: real, shift: real },
  body({ of: { isFlat, level, nodes, square }, elapsed, n, j, x, shift }) {
    const inner = j > 0 && j < nodes - 1;
    const sigma = level * (1 + shift / x);
    return inner ? 0.5 * elapsed * (isFlat ? sigma * sigma : square[n * nodes + j]) : 0;
  },
});

/**
 * The kernel that computes the prices of an American and a European option on S = scale·X + cash (`AffineSpot`), X =
 * start·e^z, by the same θ-scheme on the same mesh in z:
 *
 *   V_t + ½σ²·(V_zz − V_z) − r·V = 0,   V ≥ φ·(scale·start·e^z + cash − K)
 *
 * The discretisation is exact for 1 and e^z, and V is linear in e^z at both ends. The constraint is solved exactly in
 * each step, by policy iteration. At the start of a step with a dividend the holder may also exercise before it.
 * `output[l]` is the American price of option l and `output[items + l]` the European one. Mesh errors are nearly the
 * same in both, so they cancel in the premium.
 *
 * Cost per node and step: 10 reals moved and about 100 flops. Verified: test/calibration/american.
 */
export const earlyExerciseKernel = kernel({
  name: "early exercise",
  params: {
    items: i32,
    nodes: i32,
    isFlat: bool,
    start: real,
    quote: read(real),
    stepRange: read(i32),
    step: read(real),
    square: read(real),
    work: write(real),
    output: write(real),
  },
  env: { cubicAt, halfVariance, QUOTE_REALS, STEP_REALS, STEP_RANGE_INTEGERS, WORK_ARRAYS, ROUNDS: 30 },
  body({ items, nodes, isFlat, start, quote, stepRange, step, square, work, output }, gpu, env) {
    const l = gpu.globalId();
    if (l >= items) return;
    const strike = quote[l * env.QUOTE_REALS];
    const sign = quote[l * env.QUOTE_REALS + 1];
    const level = quote[l * env.QUOTE_REALS + 2];
    const low = quote[l * env.QUOTE_REALS + 3];
    const width = quote[l * env.QUOTE_REALS + 4];
    const firstStep = stepRange[l * env.STEP_RANGE_INTEGERS];
    const steps = stepRange[l * env.STEP_RANGE_INTEGERS + 1];
    const of = { isFlat, level, nodes, square };
    const american = l * env.WORK_ARRAYS * nodes;
    const european = american + nodes;
    const given = european + nodes;
    const factor = given + nodes;
    const spots = factor + nodes;
    const exercised = spots + nodes;
    const ratio = Math.exp(width);
    const span = ratio - 1 / ratio;
    const lower = 2 / (span * (1 - 1 / ratio));
    const upper = 2 / (span * (ratio - 1));
    const last = (firstStep + steps) * env.STEP_REALS;
    for (let j = 0; j < nodes; j++) {
      const x = start * Math.exp(low + j * width);
      const payoff = Math.max(sign * (step[last + 3] * x + step[last + 4] - strike), 0);
      work[spots + j] = x;
      work[exercised + j] = 0;
      work[european + j] = payoff;
      work[american + j] = Math.max(payoff, sign * (step[last + 5] * x + step[last + 6] - strike));
    }
    for (let n = steps - 1; n >= 0; n--) {
      const at = (firstStep + n) * env.STEP_REALS;
      const elapsed = step[at];
      const decay = step[at + 1];
      const theta = step[at + 2];
      const shift = step[at + 4] / step[at + 3];
      const scale = sign * step[at + 3];
      const fixed = sign * (step[at + 4] - strike);
      let oldAmerican = 0.0;
      let oldEuropean = 0.0;
      let value = 0.0;
      let above = 0.0;
      for (let j = 0; j < nodes; j++) {
        const a = env.halfVariance({ of, elapsed, n, j, x: work[spots + j], shift });
        const down = a * lower;
        const up = a * upper;
        const own = decay + down + up;
        const next = j < nodes - 1 ? j + 1 : j;
        const hereAmerican = work[american + j];
        const hereEuropean = work[european + j];
        const growth = down * oldAmerican + up * work[american + next] - own * hereAmerican;
        work[given + j] = hereAmerican + (1 - theta) * growth;
        const right =
          hereEuropean + (1 - theta) * (down * oldEuropean + up * work[european + next] - own * hereEuropean);
        const inverse = 1 / (1 + theta * (own - down * above));
        value = (right + theta * down * value) * inverse;
        above = theta * up * inverse;
        oldAmerican = hereAmerican;
        oldEuropean = hereEuropean;
        work[european + j] = value;
        work[factor + j] = above;
      }
      for (let j = nodes - 2; j >= 0; j--) work[european + j] += work[factor + j] * work[european + j + 1];
      let isOpen = true;
      let rounds = 0;
      while (isOpen && rounds < env.ROUNDS) {
        rounds++;
        isOpen = false;
        value = 0;
        above = 0;
        for (let j = 0; j < nodes; j++) {
          const a = theta * env.halfVariance({ of, elapsed, n, j, x: work[spots + j], shift });
          const down = a * lower;
          const up = a * upper;
          const inverse = 1 / (1 + theta * decay + down + up - down * above);
          const isExercised = work[exercised + j] > 0;
          value = isExercised ? scale * work[spots + j] + fixed : (work[given + j] + down * value) * inverse;
          above = isExercised ? 0 : up * inverse;
          work[american + j] = value;
          work[factor + j] = above;
        }
        for (let j = nodes - 2; j >= 0; j--) work[american + j] += work[factor + j] * work[american + j + 1];
        for (let j = 0; j < nodes; j++) {
          const held = work[american + j];
          let excess = scale * work[spots + j] + fixed - held;
          const wasExercised = work[exercised + j] > 0;
          if (wasExercised) {
            const a = theta * env.halfVariance({ of, elapsed, n, j, x: work[spots + j], shift });
            const left = j > 0 ? work[american + j - 1] : held;
            const right = j < nodes - 1 ? work[american + j + 1] : held;
            excess =
              (1 + theta * decay) * held - a * (lower * (left - held) + upper * (right - held)) - work[given + j];
          }
          // Rounding must not keep the iteration from its end.
          const exercises = excess > (wasExercised ? -1e-13 : 1e-13) * strike;
          if (exercises !== wasExercised) isOpen = true;
          work[exercised + j] = exercises ? 1 : 0;
        }
      }
      const scaleBefore = sign * step[at + 5];
      const fixedBefore = sign * (step[at + 6] - strike);
      for (let j = 0; j < nodes; j++)
        work[american + j] = Math.max(work[american + j], scaleBefore * work[spots + j] + fixedBefore);
    }
    const position = -low / width;
    const cell = gpu.i32(Math.min(Math.max(position, 1), nodes - 3));
    const a = american + cell;
    const e = european + cell;
    const share = position - cell;
    const first = firstStep * env.STEP_REALS;
    const held = env.cubicAt({ at: share, a: work[a - 1], b: work[a], c: work[a + 1], d: work[a + 2] });
    output[l] = Math.max(held, sign * (step[first + 3] * start + step[first + 4] - strike));
    output[items + l] = env.cubicAt({ at: share, a: work[e - 1], b: work[e], c: work[e + 1], d: work[e + 2] });
  },
});
