import { fn, i32, read, real, write } from "../../../../../kernel/index.ts";
import { Scans } from "../records.ts";
import { span, type Team } from "../team.ts";

/**
 * Returns the function of Brennan & Schwartz's substitution, y ← max(z + lower·y, bound) from the first node up, which
 * replaces z by y. Maps y ← max(α + βy, γ) with β ≥ 0 are closed under composition,
 *
 *   max(α₂ + β₂·max(α₁ + β₁y, γ₁), γ₂) = max(α₂ + β₂α₁ + β₂β₁y, max(α₂ + β₂γ₁, γ₂)),
 *
 * so that the projection can be computed by a scan over the items, wherever the exercise region lies. The β are the
 * multipliers of `scan`, whose reach also applies. Cost: 4 flops and 2 comparisons a node; for each round of the scan 3
 * flops, a comparison and two shuffles, or reals of workgroup memory.
 */
export function projectRuns(team: Team, rows: number) {
  return fn({
    name: "projectRuns",
    params: { z: write(real), lower: read(real), bound: read(real), scans: Scans, reach: i32 },
    env: { rows, scanProjection: scanProjection(team) },
    *body({ z, lower, bound, scans, reach }, _gpu, env) {
      let alpha = z[0];
      let gamma = bound[0];
      for (let k = 1; k < env.rows; k++) {
        alpha = z[k] + lower[k] * alpha;
        gamma = Math.max(z[k] + lower[k] * gamma, bound[k]);
      }
      let y = yield* env.scanProjection(alpha, gamma, scans, reach);
      for (let k = 0; k < env.rows; k++) {
        y = Math.max(z[k] + lower[k] * y, bound[k]);
        z[k] = y;
      }
    },
  });
}

/** The y that enters an item's run from below, where a run maps y to max(alpha + βy, gamma). */
function scanProjection(team: Team) {
  const { items, levels, shuffles, few } = team;
  return fn({
    name: "scanProjection",
    params: [real, real, Scans, i32],
    env: { items, levels, shuffles, few, span: span(team) },
    *body([alpha, gamma, { below, scratch }, reach], gpu, { items, levels, shuffles, few, span }) {
      const item = gpu.localId();
      const own = gpu.precision === "f32"; // in registers, see `multiplierWords`
      const pitch = own ? 1 : items;
      const place = own ? 0 : item;
      let a = alpha;
      let c = gamma;
      let otherA = 0.0;
      let otherC = 0.0;
      for (let level = 0; level < levels; level++) {
        if (level < few || level < reach) {
          const distance = 1 << level;
          if (shuffles) {
            otherA = yield gpu.shuffleUp(a, distance, span);
            otherC = yield gpu.shuffleUp(c, distance, span);
          } else {
            // The half that `scan` up starts with.
            const half = (1 - (level & 1)) * 4 * items;
            scratch[half + item] = a;
            scratch[half + items + item] = c;
            yield;
            const from = Math.max(item - distance, 0);
            otherA = scratch[half + from];
            otherC = scratch[half + items + from];
          }
          // Where there is nobody so far below, β is 0, and max(a, c) all that there is.
          const beta = below[level * pitch + place];
          c = Math.max(a + beta * otherC, c);
          a = a + beta * otherA;
        }
      }
      const leaves = Math.max(a, c);
      let enters = 0.0;
      if (shuffles) enters = yield gpu.shuffleUp(leaves, 1, span);
      else {
        scratch[4 * items + 2 * items + item] = leaves;
        yield;
        enters = scratch[4 * items + 2 * items + Math.max(item - 1, 0)];
      }
      return enters;
    },
  });
}
