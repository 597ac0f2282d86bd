import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { scanProducts } from "./scan.ts";
import type { Team } from "./team.ts";

/**
 * The excess that enters an item's run from above. An item's rows map it by e ← (m₀₀e + m₀₁)/(m₁₀e + m₁₁), and such maps compose as
 * 2 × 2 matrices do; theirs have no negative entries, so nothing is subtracted here either. Scaled to m₁₀ + m₁₁ = 1 on the way.
 */
function scanExcess({ items, levels, shuffles }: Team): KernelFunction<any, any> {
  return fn({
    name: "scanExcess",
    params: [real, real, real, real, write(real)],
    env: { items, levels, shuffles },
    *body([start00, start01, start10, start11, scratch], gpu, { items, levels, shuffles }) {
      const item = gpu.localId();
      let m00 = start00;
      let m01 = start01;
      let m10 = start10;
      let m11 = start11;
      for (let level = 0; level < levels; level++) {
        let p0 = 0.0;
        let p1 = 0.0;
        let q0 = 0.0;
        let q1 = 0.0;
        if (shuffles) {
          p0 = yield gpu.shuffleDown(m00, 1 << level);
          p1 = yield gpu.shuffleDown(m01, 1 << level);
          q0 = yield gpu.shuffleDown(m10, 1 << level);
          q1 = yield gpu.shuffleDown(m11, 1 << level);
        } else {
          const half = (level & 1) * 4 * items;
          scratch[half + item] = m00;
          scratch[half + items + item] = m01;
          scratch[half + 2 * items + item] = m10;
          scratch[half + 3 * items + item] = m11;
          yield;
          const from = half + Math.min(item + (1 << level), items - 1);
          p0 = scratch[from];
          p1 = scratch[items + from];
          q0 = scratch[2 * items + from];
          q1 = scratch[3 * items + from];
        }
        if (item + (1 << level) < items) {
          const lower0 = m10 * p0 + m11 * q0;
          const lower1 = m10 * p1 + m11 * q1;
          const scale = gpu.reciprocal(lower0 + lower1);
          const upper0 = m00 * p0 + m01 * q0;
          const upper1 = m00 * p1 + m01 * q1;
          m00 = upper0 * scale;
          m01 = upper1 * scale;
          m10 = lower0 * scale;
          m11 = lower1 * scale;
        }
      }
      // Nothing is coupled to what is above the last node: any excess does there, 1 for instance.
      const excess = (m00 + m01) / (m10 + m11);
      let next = 0.0;
      if (shuffles) next = yield gpu.shuffleDown(excess, 1);
      else {
        scratch[item] = excess;
        yield;
        next = scratch[Math.min(item + 1, items - 1)];
      }
      return item === items - 1 ? 1.0 : next;
    },
  });
}

export interface Factoring {
  /** Whether rows may be exercised. */
  readonly policy: boolean;
  /** `inverse` becomes so many times 1/pivot. */
  readonly gain: number;
  /** See `scanProducts`. */
  readonly adaptive: boolean;
}

/**
 * Factors the rows (−a, 1 + hr + a + c, −c) from the last node down, as the split with one item an option does: with row sums carried
 * (see `solverKernel`), excess ← rest/(rest + a), rest = 1 + hr + c·excess. That recurrence is scanned over the items, then each item
 * takes its rows one by one. With `policy`, rows that are `active` are y = bound instead. Returns the
 * scans' `reach`.
 *
 * Cost: about 26 flops a node and 125 an item; 31 shuffles, or 37 words of workgroup memory written and 37 read and 14 barriers, an item.
 */
export function factorRuns(team: Team, rows: number, { policy, gain, adaptive }: Factoring): KernelFunction<any, any> {
  return fn({
    name: "factorRuns",
    params: [
      read(real),
      read(real),
      read(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(real),
      real,
      write(i32),
      write(i32),
    ],
    env: {
      rows,
      policy,
      gain,
      scanExcess: scanExcess(team),
      scanProducts: scanProducts(team, adaptive),
    },
    *body([a, c, active, inverse, lower, upper, above, below, scratch, hRate, counter, result], gpu, env: any) {
      let m00 = 1.0;
      let m01 = 0.0;
      let m10 = 0.0;
      let m11 = 1.0;
      for (let k = env.rows - 1; k >= 0; k--) {
        let p0 = c[k] * m00 + (1 + hRate) * m10;
        let p1 = c[k] * m01 + (1 + hRate) * m11;
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
        // Entries grow like 1 + a + c, which is below 1e15 on any mesh that f32 can tell the nodes of: two rows there, four in f64.
        if (k % (gpu.precision === "f64" ? 4 : 2) === 0) {
          const scale = gpu.reciprocal(q0 + q1);
          m00 *= scale;
          m01 *= scale;
          m10 *= scale;
          m11 *= scale;
        }
      }
      let excess = yield* env.scanExcess(m00, m01, m10, m11, scratch);
      let down = 1.0;
      let up = 1.0;
      for (let k = env.rows - 1; k >= 0; k--) {
        const rest = 1 + hRate + c[k] * excess;
        let pivot = gpu.reciprocal(rest + a[k]);
        excess = rest * pivot;
        lower[k] = a[k] * pivot;
        upper[k] = c[k] * pivot;
        if (env.policy && active[k] > 0.5) {
          excess = 1.0;
          pivot = 1.0;
          lower[k] = 0.0;
          upper[k] = 0.0;
        }
        inverse[k] = env.gain * pivot;
        down *= upper[k];
        up *= lower[k];
      }
      return yield* env.scanProducts(down, up, above, below, scratch, counter, result);
    },
  });
}
