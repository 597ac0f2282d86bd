import { bool, fn, i32, real, record, type ValueOf, write } from "../../../../kernel/index.ts";
import { atSeries, atStart, LoopState, Diagonal, Factors, Products, RowEntries, Scans, StepSeries } from "./records.ts";
import { scanRounds, scanProducts } from "./scan.ts";
import { partsOf, itemIndex, shuffleSpan, type Team } from "./team.ts";
import { Coefficients, SLICE_REALS } from "../../operator/coefficients.ts";
import { EVENT_FLAGS } from "../../time/time-grid.ts";
import { assembleByMetrics, assembleSegment, decoupleEnds, pinHeldRows, rescaleSegment } from "./rows.ts";
import { premiumSources, eliminationThresholds } from "./exercise.ts";
import type { TeamPlan } from "../option/plan.ts";
import { scaleSegmentForSums } from "./sums.ts";

/** e ← (m₀₀e + m₀₁)/(m₁₀e + m₁₁). */
const ExcessMap = record({ m00: real, m01: real, m10: real, m11: real });
type ExcessMap = ValueOf<typeof ExcessMap>;

/**
 * The excess that enters an item's segment from above. An item's rows map it (`ExcessMap`), and such
 * maps compose as 2 × 2 matrices do; theirs have no negative entries, so nothing is subtracted here either. They start
 * with m₁₀ + m₁₁ = 1, and a round leaves at least the smallest excess of its product: in f32 rounds past `fewOfPivots`
 * scale them again. `near`: what is further above than those reach does not count.
 */
function scanExcess(team: Team) {
  const { items, levels, shuffles, fewOfPivots } = team;
  const round = fn({
    name: "excessRound",
    params: [ExcessMap, i32, write(real)],
    env: { items, shuffles, few: fewOfPivots, shuffleSpan: shuffleSpan(team), itemIndex: itemIndex(team) },
    *body([{ m00, m01, m10, m11 }, level, scratch], gpu, { items, shuffles, few, shuffleSpan, itemIndex }) {
      const { item } = itemIndex();
      const distance = 1 << level;
      let p0 = 0.0;
      let p1 = 0.0;
      let q0 = 0.0;
      let q1 = 0.0;
      if (shuffles) {
        p0 = yield gpu.shuffleDown(m00, distance, shuffleSpan);
        p1 = yield gpu.shuffleDown(m01, distance, shuffleSpan);
        q0 = yield gpu.shuffleDown(m10, distance, shuffleSpan);
        q1 = yield gpu.shuffleDown(m11, distance, shuffleSpan);
      } else {
        const half = (level & 1) * 4 * items;
        scratch[half + item] = m00;
        scratch[half + items + item] = m01;
        scratch[half + 2 * items + item] = m10;
        scratch[half + 3 * items + item] = m11;
        yield;
        const from = half + Math.min(item + distance, items - 1);
        p0 = scratch[from];
        p1 = scratch[items + from];
        q0 = scratch[2 * items + from];
        q1 = scratch[3 * items + from];
      }
      let n00 = m00;
      let n01 = m01;
      let n10 = m10;
      let n11 = m11;
      if (item + distance < items) {
        n00 = m00 * p0 + m01 * q0;
        n01 = m00 * p1 + m01 * q1;
        n10 = m10 * p0 + m11 * q0;
        n11 = m10 * p1 + m11 * q1;
        if (gpu.precision !== "f64" && level >= few) {
          const scale = gpu.reciprocal(n10 + n11);
          n00 *= scale;
          n01 *= scale;
          n10 *= scale;
          n11 *= scale;
        }
      }
      return { m00: n00, m01: n01, m10: n10, m11: n11 };
    },
  });
  return fn({
    name: "scanExcess",
    params: [ExcessMap, write(real), bool],
    env: { items, levels, shuffles, few: fewOfPivots, span: shuffleSpan(team), itemIndex: itemIndex(team), round },
    *body([start, scratch, near], gpu, { items, levels, shuffles, few, span, itemIndex, round }) {
      const { item } = itemIndex();
      let map: ExcessMap = start;
      for (let level = 0; level < few; level++) map = yield* round(map, level, scratch);
      if (!near) for (let level = few; level < levels; level++) map = yield* round(map, level, scratch);
      // Nothing is coupled to what is above the last node: any excess does there, 1 for instance.
      const excess = (map.m00 + map.m01) * gpu.reciprocal(map.m10 + map.m11);
      let next = 0.0;
      if (shuffles) next = yield gpu.shuffleDown(excess, 1, span);
      else {
        scratch[item] = excess;
        yield;
        next = scratch[Math.min(item + 1, items - 1)];
      }
      return item === items - 1 ? 1.0 : next;
    },
  });
}

/**
 * Says whether the term 1 + hr on the matrix's diagonal is the same in all rows or varies from row to row (`Diagonal`).
 */
export type DecayKind = "same" | "varying";

/** The options of a factorisation by a team of items. */
interface Factoring {
  /** The rows of policy iteration; undefined where no row is exercised, and rows are divided by their decay. */
  readonly policy?: DecayKind;
  /** True where one factorisation serves several steps (`scanProducts`). */
  readonly reusesFactors: boolean;
  /**
   * True where the state is w = gain·u, so that a value that enters an interval of nodes from below counts times `gain`
   * (`stepSegment`).
   */
  readonly scaled: boolean;
  /**
   * True in f64, for `scaleSegmentForSums`: `SUBNORMAL_GUARD` is added to the coefficients, and `upper` is without the
   * sign that the first row of a mesh may give it.
   */
  readonly summed: boolean;
}

/** Keeps products over a part far from the ends of f64, and what it lets through is nothing beside a rounding. */
const SUBNORMAL_GUARD = 2 ** -64;

/**
 * Returns the function that factors the rows (−a, decay + a + c, −c) from the last node down, as a single item would,
 * carrying row sums (`solverKernel`): excess ← rest/(rest + a), rest = decay + c·excess. The recurrence is computed by
 * a scan over the items, then each item processes its rows in order. `gain` becomes `numerator`/pivot. With `policy`,
 * rows that are `active` become y = bound. `near`: see `scanExcess`. It returns the reach of the scans.
 *
 * Cost: about 15 (with `policy` 17) flops for each node; for each item 60 flops and 20 shuffles (unless `near`, 90 and
 * 35), or as many reals of workgroup memory written and read and 8 (14) barriers.
 */
export function factorSegment(team: Team, rows: number, { policy, reusesFactors, scaled, summed }: Factoring) {
  return fn({
    name: "factorSegment",
    params: {
      rows: RowEntries,
      diagonal: Diagonal,
      numerator: real,
      near: bool,
      factors: Factors,
      products: Products,
      scans: Scans,
    },
    env: {
      count: rows,
      size: partsOf(rows).size,
      policy: policy !== undefined,
      varying: policy === "varying",
      reusesFactors,
      scaled,
      summed,
      min: SUBNORMAL_GUARD,
      often: reusesFactors && team.options === 1,
      scanExcess: scanExcess(team),
      scanProducts: scanProducts(team, reusesFactors),
    },
    *body({ rows: { a, c }, diagonal, numerator, near, factors, products, scans }, gpu, env) {
      const { gain, lower, upper } = factors;
      const { downProduct, upProduct, downTo, upTo } = products;
      const { active, decays, decay } = diagonal;
      let m00 = 1.0;
      let m01 = 0.0;
      let m10 = 0.0;
      let m11 = 1.0;
      for (let k = env.count - 1; k >= 0; k--) {
        const own = env.varying ? decays[k] : decay;
        let p0 = c[k] * m00 + (!env.policy ? m10 : own * m10);
        let p1 = c[k] * m01 + (!env.policy ? m11 : own * m11);
        let q0 = p0 + a[k] * m10;
        let q1 = p1 + a[k] * m11;
        if (env.policy && active[k] > 0.5) {
          q0 = m10;
          q1 = m11;
          p0 = m10;
          p1 = m11;
        }
        m00 = p0;
        m01 = p1;
        m10 = q0;
        m11 = q1;
        // Entries grow like 1 + a + c, which is below 1e15 on any mesh that f32 can tell the nodes of, and mostly near
        // 10: in f64 a whole segment may.
        if (gpu.precision !== "f64" && k % 2 === 0 && k > 0) {
          const size = q0 + q1;
          if (size > 1e8) {
            const scale = gpu.reciprocal(size);
            m00 *= scale;
            m01 *= scale;
            m10 *= scale;
            m11 *= scale;
          }
        }
      }
      const scale = gpu.reciprocal(m10 + m11);
      // The excess as p/q from here on, so that no reciprocal waits for the one before: the pivot is what q grew by.
      let p = yield* env.scanExcess(
        { m00: m00 * scale, m01: m01 * scale, m10: m10 * scale, m11: m11 * scale },
        scans.scratch,
        near,
      );
      let q = 1.0;
      let down = 1.0;
      let up = 1.0;
      let partDown = 1.0;
      let partUp = 1.0;
      for (let k = env.count - 1; k >= 0; k--) {
        const before = q;
        const own = env.varying ? decays[k] : decay;
        p = c[k] * p + (!env.policy ? before : own * before);
        q = p + a[k] * before;
        const inverseQ = gpu.reciprocal(q);
        let pivot = before * inverseQ;
        lower[k] = a[k] * pivot;
        upper[k] = c[k] * pivot;
        if (env.summed && gpu.precision === "f64") {
          lower[k] = a[k] * pivot + env.min;
          upper[k] = (k === 0 ? Math.abs(c[k]) : c[k]) * pivot + env.min;
        }
        // As above; f64 has room for a whole segment, which factors that last do without to save registers.
        if (env.often || (gpu.precision !== "f64" && k % 2 === 1)) {
          p *= inverseQ;
          q = 1.0;
        }
        if (env.policy && active[k] > 0.5) {
          p = q;
          pivot = 1.0;
          lower[k] = 0.0;
          upper[k] = 0.0;
        }
        gain[k] = numerator * pivot;
        partDown *= upper[k];
        partUp *= lower[k];
        if (env.reusesFactors && gpu.precision === "f32") downTo[k] = partDown;
        if (k % env.size === 0) {
          downProduct[(k / env.size) | 0] = partDown;
          upProduct[(k / env.size) | 0] = partUp;
          down *= partDown;
          up *= partUp;
          partDown = 1.0;
          partUp = 1.0;
        }
      }
      if (env.reusesFactors && gpu.precision === "f32")
        for (let k = 0; k < env.count; k++) {
          upTo[k] = k % env.size === 0 ? lower[k] : upTo[Math.max(k - 1, 0)] * lower[k];
        }
      if (env.reusesFactors && env.scaled && gpu.precision === "f32")
        for (let k = 0; k < env.count; k++) upTo[k] *= gain[k];
      return yield* env.scanProducts(down, up, scans);
    },
  });
}

/**
 * The rows of I − hL, times `rowScale`, which `coefficients` are already, by the shortest of the ways there are.
 * Returns the piece of a surface that the segment's first node is in.
 */
function makeRows(plan: TeamPlan) {
  const { rows, hasBarriers, metrics, rescaled, summed } = plan;
  return fn({
    name: "makeRows",
    params: { ...atStart, loopState: LoopState, programRow: StepSeries, coefficients: Coefficients, rowScale: real },
    env: {
      count: rows,
      hasBarriers,
      metrics,
      rescaled,
      isSummed: summed,
      assembleSegment: assembleSegment(plan),
      assembleByMetrics: assembleByMetrics(plan),
      rescaleSegment: rescaleSegment(plan),
      decoupleEnds: decoupleEnds(rows),
    },
    body({ launch, context, memory, loopState, programRow, coefficients, rowScale }, gpu, env) {
      const { mesh, rows, factors, kept } = memory;
      const { x, values: weights } = mesh;
      const { slice, live } = loopState;
      const summed = env.isSummed && gpu.precision === "f64";
      let piece = slice.piece;
      if (env.metrics) {
        const { hVariance, hDrift } = coefficients;
        env.assembleByMetrics({ context, mesh, rows, nodes: launch.nodes, hVariance, hDrift, scale: rowScale });
      } else if (env.rescaled && programRow.index > 0)
        env.rescaleSegment({
          launch,
          context,
          x,
          weights,
          rows,
          gain: factors.gain,
          before: { a: summed ? kept.rows.a : factors.lower, c: summed ? kept.rows.c : factors.upper },
          ratio: programRow.coefficients.h * gpu.reciprocal(loopState.factored.hLast) * rowScale,
          coefficients,
        });
      else piece = env.assembleSegment({ launch, context, x, weights, rows, coefficients, slice });
      if (env.hasBarriers) env.decoupleEnds(rows, live);
      if (env.rescaled && summed && programRow.index === 0)
        for (let k = 0; k < env.count; k++) {
          kept.rows.a[k] = rows.a[k];
          kept.rows.c[k] = rows.c[k];
        }
      return piece;
    },
  });
}

/** Returns the function that assembles and factors I − hL, and scales the state for the new factors. */
export function factor(plan: TeamPlan) {
  const { team, rows, reusesFactors, policy, hasBarriers, eventful, held, scaled, summed, variant } = plan;
  return fn({
    name: "factor",
    params: atSeries,
    env: {
      count: rows,
      reusesFactors,
      policy,
      hasBarriers,
      eventful,
      EVENT_FLAGS,
      held,
      scaled,
      isSummed: summed,
      isSurface: variant.shape === "surface",
      sliceReals: SLICE_REALS,
      scanRounds: scanRounds(team),
      makeRows: makeRows(plan),
      factorSegment: factorSegment(team, rows, { reusesFactors, scaled, summed }),
      pinHeldRows: pinHeldRows(rows),
      premiumSources: premiumSources(rows, variant.closed),
      eliminationThresholds: eliminationThresholds(rows, variant.closed),
      scaleSegmentForSums: scaleSegmentForSums(rows, held),
    },
    *body({ launch, context, memory, loopState, programRow }, gpu, env) {
      const { mesh, state, rows, factors, products, scans, paid, active, kept } = memory;
      const { obstacle, live, slice } = loopState;
      const { gain } = factors;
      const { u } = state;
      const { h, hVariance, hDrift, hRate, time, shift } = programRow.coefficients;
      const summed = env.isSummed && gpu.precision === "f64";
      const premium = env.held && summed;
      // Rows divided by 1 + hr spare pivots a product each; policy iteration wants them as they are.
      const rowScale = env.policy ? 1.0 : gpu.reciprocal(1 + hRate);
      // After an event the solution is as it is.
      const asItIs = env.eventful && (launch.flags[Math.max(programRow.index - 1, 0)] & env.EVENT_FLAGS) !== 0;
      if (env.scaled && programRow.index > 0 && !asItIs)
        for (let k = 0; k < env.count; k++) {
          if (premium) u[k] -= 0.5 * paid[k];
          u[k] *= gpu.reciprocal(summed ? kept.multiple[k] : gain[k]);
        }
      let { needed, reach, hLast, signOfFirst } = loopState.factored;
      let found = slice.piece;
      let again = false;
      do {
        const coefficients = {
          h: h * rowScale,
          hVariance: hVariance * rowScale,
          hDrift: hDrift * rowScale,
          hRate,
          time,
          shift,
        };
        found = env.makeRows({ launch, context, memory, loopState, programRow, coefficients, rowScale });
        if (!env.policy) {
          // Neighbouring steps reach equally far: what the one before needed is tried first, and the whole scan only
          // where that proves too little.
          const near = !env.reusesFactors && needed === 0;
          const numerator = 2.0 * rowScale;
          const diagonal = { active, decays: rows.a, decay: 1 }; // not looked at
          needed = yield* env.factorSegment({ rows, diagonal, numerator, near, factors, products, scans });
          again = near && needed !== 0;
          reach = env.reusesFactors ? needed : env.scanRounds(needed);
        }
      } while (again);
      if (!summed) hLast = h;
      else if (programRow.index === 0) hLast = h * rowScale;
      let { slice: sliceAt, piece } = slice;
      if (env.isSurface) {
        piece = found;
        sliceAt += slice.spots * env.sliceReals;
      }
      if (env.hasBarriers && !env.policy) env.pinHeldRows(gain, live, 2.0);
      if (summed) signOfFirst = rows.c[0] < 0 ? -1.0 : 1.0;
      if (premium) env.premiumSources({ launch, context, x: mesh.x, factors, hRate, obstacle, signOfFirst, u });
      else if (env.held) env.eliminationThresholds({ launch, context, x: mesh.x, lower: factors.lower, obstacle, u });
      if (env.scaled && !premium) for (let k = 0; k < env.count; k++) u[k] *= gain[k];
      if (summed) env.scaleSegmentForSums({ u, doubled: paid, multiple: kept.multiple, factors });
      return {
        row: loopState.row,
        next: loopState.next,
        factored: { hRate, hLast, signOfFirst, needed, reach },
        slice: { move: slice.move, spots: slice.spots, first: slice.first, slice: sliceAt, piece },
        live,
        obstacle,
        moves: loopState.moves,
      };
    },
  });
}
