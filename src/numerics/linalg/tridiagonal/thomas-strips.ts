import { i32, type Kernel, kernel, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { firstZeroPivot } from "./checks.ts";
import { systemParams } from "./method.ts";
import { codes } from "./status.ts";
import { roomFor } from "./thomas.ts";
import { touch } from "./touch.ts";

interface StripsVariant {
  /** The number of systems of a strip: a workgroup, which one thread runs. */
  readonly strip: number;
  /** The number of words of a line of the cache. */
  readonly line: number;
  /** The largest number of rows that a private array holds; 0 where c′ goes to a workspace in memory. */
  readonly capacity: number;
}

/** The number of rows that a strip is asked for at once. */
const AHEAD = 8;

/**
 * The kernel of `thomasKernel` for interleaved systems on a CPU. Rows are `batch` words apart, usually on different
 * pages, so 64 neighbours go through the rows together, and one page look-up serves eight lines of the cache instead of
 * one. Before a few rows are eliminated, a word of each of their lines is read and discarded: all those lines are then
 * in flight at once.
 *
 * Cost a row as `thomasKernel`, but d′ overwrites the right-hand side. The same operations in the same order give the
 * same bits.
 */
export const thomasStripsKernel = memoize(({ strip, line, capacity }: StripsVariant): Kernel =>
  kernel({
    name: `thomas-strips-${strip}-${line}-${capacity}`,
    groupSize: strip,
    params: { rows: i32, batch: i32, ...systemParams, work: write(real) },
    env: { touch, firstZeroPivot, strip, line, ahead: AHEAD, ...roomFor(capacity), ...codes },
    *body(
      { rows, batch, lower, diagonal, upper, rhs, work, status },
      gpu,
      { touch, firstZeroPivot, strip, line, ahead, kept, room, ok, notFinite },
    ) {
      const first = gpu.groupId() * strip;
      const s = first + gpu.localId();
      const c = gpu.privateReal(room);
      let cLast = 0.0;
      let dLast = 0.0;
      // Row 0 by itself: its lower entry is nobody's.
      if (s < batch) {
        const inverse = 1 / diagonal[s];
        dLast = rhs[s] * inverse;
        cLast = upper[s] * inverse;
        if (kept) c[0] = cLast;
        else work[s] = cLast;
        rhs[s] = dLast;
      }
      for (let start = 1; start < rows; start += ahead) {
        const end = Math.min(start + ahead, rows);
        for (let i = start; i < end; i++) {
          for (let k = 0; k < strip; k += line) {
            const at = i * batch + Math.min(first + k, batch - 1);
            touch(lower, at);
            touch(diagonal, at);
            touch(upper, at);
            touch(rhs, at);
          }
          yield; // so this is the strip's, not each item's
        }
        if (s < batch) {
          for (let i = start; i < end; i++) {
            const at = i * batch + s;
            const a = lower[at];
            const inverse = 1 / (diagonal[at] - a * cLast);
            dLast = (rhs[at] - a * dLast) * inverse;
            cLast = upper[at] * inverse;
            if (kept) c[i] = cLast;
            else work[at] = cLast;
            rhs[at] = dLast;
          }
        }
        yield;
      }
      // What the last row says of the unknown after it is nobody's either.
      if (s < batch) {
        if (kept) c[rows - 1] = 0.0;
        else work[(rows - 1) * batch + s] = 0.0;
      }
      let x = 0.0;
      // A CPU's arithmetic is IEEE 754's in f32, too: see `stillZero`.
      let check = 0.0;
      for (let end = rows; end > 0; end -= ahead) {
        const start = Math.max(end - ahead, 0);
        if (s < batch) {
          for (let i = end - 1; i >= start; i--) {
            const at = i * batch + s;
            x = rhs[at] - (kept ? c[i] : work[at]) * x;
            check += x - x;
            rhs[at] = x;
          }
        }
        yield;
      }
      if (s < batch) {
        let code = ok;
        if (check !== 0) {
          code = firstZeroPivot(lower, diagonal, upper, s, batch, 0, rows);
          if (code === ok) code = notFinite;
        }
        status[s] = code === ok ? 0 : code === notFinite ? -1 : code + 1;
      }
    },
  }),
);
