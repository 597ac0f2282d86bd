import { i32, kernel, read, real, write } from "../../kernel/index.ts";
import { BOUNDARY_OUTPUTS, seriesAt } from "./boundary.ts";

/**
 * The kernel that finds the time to expiry T at which the two boundaries of an option meet, by the secant method:
 *
 *   ln(B(0)/B(T)) + ln(Y(T)/Y(0)) = ln(q/r)
 *
 * Its parameters are those of `premiumKernel`. `option[2·count + l]` holds the time to expiry of option l. It is
 * replaced by the meeting time if that is shorter, and by NaN if none is found. Options with one boundary keep theirs.
 */
export const meetingKernel = kernel({
  name: "where two boundaries meet",
  params: {
    count: i32,
    boundaries: i32,
    nodes: i32,
    model: read(real),
    series: read(real),
    boundary: read(i32),
    option: write(real),
  },
  env: { seriesAt, SERIES: BOUNDARY_OUTPUTS },
  body({ count, boundaries, nodes: degree, model, series, boundary, option }, gpu, { seriesAt, SERIES }) {
    const l = gpu.globalId();
    if (l >= count) return;
    const upper = boundary[l];
    const lower = boundary[count + l];
    if (lower < 0) return;
    const apart = Math.log(model[boundaries + upper] / model[upper]);
    const longest = model[3 * boundaries + upper];
    const expiry = option[count + l];
    // In z = 2√(τ/T) − 1; if they do not meet before expiry or the end of the series, the first gap is negative.
    let z = Math.min(2 * Math.sqrt(expiry / longest) - 1, 1);
    let next = z - 0.02 * (1 + z);
    let before = 0.0;
    let gap = 1.0;
    for (let k = 0; k < 10; k++) {
      const high = seriesAt({ series, start: upper * SERIES, degree, z });
      const low = seriesAt({ series, start: lower * SERIES, degree, z });
      const found = Math.sqrt(Math.max(high, 0)) + Math.sqrt(Math.max(low, 0)) - apart;
      if (k === 0 && found <= 0 && expiry <= longest) return;
      if (k > 0) {
        const rise = found - gap;
        const step = rise !== 0 ? (found * (z - before)) / rise : 0.0;
        next = Math.min(Math.max(z - step, 0.5 * z - 0.5), 1.1);
      }
      before = z;
      gap = found;
      z = next;
    }
    const root = 0.5 * (1 + before);
    option[2 * count + l] = Math.abs(gap) < 1e-7 * apart ? Math.min(longest * root * root, expiry) : NaN;
  },
});
