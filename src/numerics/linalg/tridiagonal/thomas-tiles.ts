import { i32, type Kernel, kernel, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { firstZeroPivot } from "./checks.ts";
import { systemParams } from "./method.ts";
import { codes } from "./status.ts";
import { roomFor } from "./thomas.ts";
import { touch } from "./touch.ts";

interface TilesVariant {
  /** The number of systems of a workgroup, which run side by side. */
  readonly together: number;
  /** The number of words of a line of the cache. */
  readonly line: number;
  /** The number of rows of a tile: as many as a vector has lanes. */
  readonly tile: number;
  /** The capacity, as that of `thomasKernel`. */
  readonly capacity: number;
}

/**
 * Longer systems are streams that a CPU follows by itself; shorter ones end before it does, and are asked for as a
 * whole.
 */
const SHORT = 128;

/**
 * The kernel of `thomasKernel` for contiguous systems on a CPU: rows are read and written a tile at a time, so that the
 * emitter loads a vector of each system and transposes tiles of lanes × lanes words (kernel/emit/wasm/blocks.ts),
 * instead of loading word by word.
 *
 * Cost a row as `thomasKernel`. The same operations in the same order give the same bits.
 */
export const thomasTilesKernel = memoize(({ together, line, tile, capacity }: TilesVariant): Kernel =>
  kernel({
    name: `thomas-tiles-${together}-${line}-${tile}-${capacity}`,
    groupSize: together,
    params: { rows: i32, batch: i32, ...systemParams, work: write(real) },
    env: { touch, firstZeroPivot, together, line, short: SHORT, tile, ...roomFor(capacity), ...codes },
    *body(
      { rows, batch, lower, diagonal, upper, rhs, work, status },
      gpu,
      { touch, firstZeroPivot, together, line, short, tile, kept, room, ok, notFinite },
    ) {
      const first = gpu.groupId() * together;
      const s = first + gpu.localId();
      const c = gpu.privateReal(room);
      const d = gpu.privateReal(room);
      const as = gpu.privateReal(tile);
      const bs = gpu.privateReal(tile);
      const cs = gpu.privateReal(tile);
      const ds = gpu.privateReal(tile);
      if (rows <= short) {
        const end = Math.min(first + together, batch) * rows;
        for (let at = first * rows; at < end; at += line) {
          touch(lower, at);
          touch(diagonal, at);
          touch(upper, at);
          touch(rhs, at);
          yield; // so this is the workgroup's, not each item's
        }
      }
      yield;
      if (s >= batch) return;
      const from = s * rows;
      const half = rows * batch;
      // Rows before the first whole tile; row 0, whose lower entry is nobody's, is always one of them.
      const head = rows - (((rows - 1) / tile) | 0) * tile;
      let cLast = 0.0;
      let dLast = 0.0;
      for (let i = 0; i < head; i++) {
        const at = from + i;
        const a = i > 0 ? lower[at] : 0.0;
        const inverse = 1 / (diagonal[at] - a * cLast);
        dLast = (rhs[at] - a * dLast) * inverse;
        cLast = upper[at] * inverse;
        if (kept) {
          c[i] = cLast;
          d[i] = dLast;
        } else {
          work[i * batch + s] = cLast;
          work[half + i * batch + s] = dLast;
        }
      }
      for (let i = head; i < rows; i += tile) {
        const at = from + i;
        for (let k = 0; k < tile; k++) as[k] = lower[at + k];
        for (let k = 0; k < tile; k++) bs[k] = diagonal[at + k];
        for (let k = 0; k < tile; k++) cs[k] = upper[at + k];
        for (let k = 0; k < tile; k++) ds[k] = rhs[at + k];
        for (let k = 0; k < tile; k++) {
          const inverse = 1 / (bs[k] - as[k] * cLast);
          dLast = (ds[k] - as[k] * dLast) * inverse;
          cLast = cs[k] * inverse;
          if (kept) {
            c[i + k] = cLast;
            d[i + k] = dLast;
          } else {
            work[(i + k) * batch + s] = cLast;
            work[half + (i + k) * batch + s] = dLast;
          }
        }
      }
      // What the last row says of the unknown after it is nobody's either.
      if (kept) c[rows - 1] = 0.0;
      else work[(rows - 1) * batch + s] = 0.0;
      let x = 0.0;
      // A CPU's arithmetic is IEEE 754's in f32, too: see `stillZero`.
      let check = 0.0;
      for (let i = rows - tile; i >= head; i -= tile) {
        const at = from + i;
        for (let k = tile - 1; k >= 0; k--) {
          if (kept) x = d[i + k] - c[i + k] * x;
          else x = work[half + (i + k) * batch + s] - work[(i + k) * batch + s] * x;
          check += x - x;
          ds[k] = x;
        }
        for (let k = 0; k < tile; k++) rhs[at + k] = ds[k];
      }
      for (let i = head - 1; i >= 0; i--) {
        if (kept) x = d[i] - c[i] * x;
        else x = work[half + i * batch + s] - work[i * batch + s] * x;
        check += x - x;
        rhs[from + i] = x;
      }
      let code = ok;
      if (check !== 0) {
        code = firstZeroPivot(lower, diagonal, upper, from, 1, 0, rows);
        if (code === ok) code = notFinite;
      }
      status[s] = code === ok ? 0 : code === notFinite ? -1 : code + 1;
    },
  }),
);
