/**
 * ILU(0): incomplete factors with the pattern of the matrix (Meijerink & van der Vorst 1977; Saad 2003, section 10.3).
 */
import { type DeviceBuffer, createBufferOf } from "../../../device/index.ts";
import { fn, i32, kernel, read, real, record, write } from "../../../kernel/index.ts";
import type { SparseOperator } from "../sparse/index.ts";
import {
  copyKernel,
  disposeOwned,
  firstFailure,
  type PreconditionerParts,
  preconditionerParts,
  type Preconditioner,
} from "./factor-parts.ts";
import { levelsOf, levelRangesOf } from "./levels.ts";

const GROUP = 128;

const Rows = record({ starts: read(i32), column: read(i32) });

/**
 * Row i of L·U, in the place of a copy of the values: uᵢⱼ, and lᵢⱼ below the diagonal. Rows that it needs are finished.
 * Gives i if the row has no pivot, else −1.
 */
const factorRow = fn({
  name: "factorRow",
  params: { of: Rows, i: i32, factors: write(real) },
  body({ of: { starts, column }, i, factors }) {
    const end = starts[i + 1];
    let pivot = 0.0;
    for (let k = starts[i]; k < end; k++) {
      const p = column[k];
      if (p === i) pivot = factors[k];
      if (p < i) {
        // Row p: its pivot, and then what it takes from the rest of row i.
        let q = starts[p];
        const last = starts[p + 1];
        while (q < last && column[q] < p) q++;
        const factor = factors[k] / factors[Math.min(q, last - 1)];
        factors[k] = factor;
        let next = k + 1;
        for (q = q + 1; q < last; q++) {
          while (next < end && column[next] < column[q]) next++;
          if (next < end) {
            if (column[next] === column[q]) factors[next] -= factor * factors[q];
          }
        }
      }
    }
    return pivot === 0 || !Number.isFinite(pivot) ? i : -1;
  },
});

/** Row i of L·z = r, L with ones on the diagonal. */
const lowerRow = fn({
  name: "lowerRow",
  params: { of: Rows, i: i32, factors: read(real), r: read(real), z: write(real) },
  body({ of: { starts, column }, i, factors, r, z }) {
    let sum = r[i];
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const j = column[k];
      if (j >= i) break;
      sum -= factors[k] * z[j];
    }
    z[i] = sum;
  },
});

/** Row i of U·z = z. */
const upperRow = fn({
  name: "upperRow",
  params: { of: Rows, i: i32, factors: read(real), z: write(real) },
  body({ of: { starts, column }, i, factors, z }) {
    let sum = z[i];
    let pivot = 1.0;
    for (let k = starts[i + 1] - 1; k >= starts[i]; k--) {
      const j = column[k];
      if (j === i) pivot = factors[k];
      if (j <= i) break;
      sum -= factors[k] * z[j];
    }
    z[i] = sum / pivot;
  },
});

const levelParams = { from: i32, to: i32, order: read(i32), levels: read(i32) } as const;
const rowParams = { starts: read(i32), column: read(i32) } as const;

/** Rows of levels from … to − 1. */
const factorLevels = kernel({
  name: "iluFactor",
  params: { ...levelParams, ...rowParams, factors: write(real), failed: write(i32) },
  groupSize: GROUP,
  env: { GROUP, factorRow },
  *body({ from, to, order, levels, starts, column, factors, failed }, gpu, { GROUP, factorRow }) {
    for (let level = from; level < to; level++) {
      const end = levels[level + 1];
      for (let at = levels[level] + gpu.globalId(); at < end; at += GROUP * gpu.groupCount()) {
        const i = order[at];
        failed[i] = factorRow({ of: { starts, column }, i, factors });
      }
      yield;
    }
  },
});

const lowerLevels = kernel({
  name: "iluLower",
  params: { ...levelParams, ...rowParams, factors: read(real), r: read(real), z: write(real) },
  groupSize: GROUP,
  env: { GROUP, lowerRow },
  *body({ from, to, order, levels, starts, column, factors, r, z }, gpu, { GROUP, lowerRow }) {
    for (let level = from; level < to; level++) {
      const end = levels[level + 1];
      for (let at = levels[level] + gpu.globalId(); at < end; at += GROUP * gpu.groupCount())
        lowerRow({ of: { starts, column }, i: order[at], factors, r, z });
      yield;
    }
  },
});

const upperLevels = kernel({
  name: "iluUpper",
  params: { ...levelParams, ...rowParams, factors: read(real), z: write(real) },
  groupSize: GROUP,
  env: { GROUP, upperRow },
  *body({ from, to, order, levels, starts, column, factors, z }, gpu, { GROUP, upperRow }) {
    for (let level = from; level < to; level++) {
      const end = levels[level + 1];
      for (let at = levels[level] + gpu.globalId(); at < end; at += GROUP * gpu.groupCount())
        upperRow({ of: { starts, column }, i: order[at], factors, z });
      yield;
    }
  },
});

/** All rows one after the other, by one work item: on a core that is several times as fast as by levels. */
const factorAll = kernel({
  name: "iluFactorAll",
  params: { rows: i32, ...rowParams, factors: write(real), failed: write(i32) },
  env: { factorRow },
  body({ rows, starts, column, factors, failed }, _gpu, { factorRow }) {
    for (let i = 0; i < rows; i++) failed[i] = factorRow({ of: { starts, column }, i, factors });
  },
});

const solveAll = kernel({
  name: "iluSolveAll",
  params: { rows: i32, ...rowParams, factors: read(real), r: read(real), z: write(real) },
  env: { lowerRow, upperRow },
  body({ rows, starts, column, factors, r, z }, _gpu, { lowerRow, upperRow }) {
    for (let i = 0; i < rows; i++) lowerRow({ of: { starts, column }, i, factors, r, z });
    for (let i = rows - 1; i >= 0; i--) upperRow({ of: { starts, column }, i, factors, z });
  },
});

/** Factors on the device, and where the failures of the last factorisation are. */
interface Memory extends PreconditionerParts {
  readonly factors: DeviceBuffer;
  readonly failed: DeviceBuffer<"i32">;
}

type Steps = Pick<Preconditioner, "refresh" | "apply">;

/** Rows in their own order. */
async function inOrder({ device, rows, rowArrays, factors, failed, compile }: Memory): Promise<Steps> {
  const { starts, column } = rowArrays;
  const factor = await compile(factorAll);
  const solve = await compile(solveAll);
  const pattern = { rows, starts, column, factors };
  return {
    refresh: () => device.launch(factor, { ...pattern, failed }, { items: 1 }),
    apply: (r, z) => device.launch(solve, { ...pattern, r, z }, { items: 1 }),
  };
}

/** Rows by levels. The pattern is read once, for them. */
async function byLevels({ device, owned, rowArrays, factors, failed, compile }: Memory): Promise<Steps> {
  const { starts, column } = rowArrays;
  const [hostStarts, hostColumn] = (await Promise.all([device.read(starts), device.read(column)])) as Int32Array[];
  const scheduled = (triangle: "lower" | "upper") => {
    const levels = levelsOf(hostStarts, hostColumn, triangle);
    const upload = (values: Int32Array): DeviceBuffer => {
      const made = createBufferOf(device, "i32", values);
      owned.push(made);
      return made;
    };
    const buffers = { order: upload(levels.order), levels: upload(levels.starts), starts, column, factors };
    return levelRangesOf(levels, GROUP).map(({ from, to, groups }) => ({
      args: { from, to, ...buffers },
      size: { groups },
    }));
  };
  const [lower, upper] = [scheduled("lower"), scheduled("upper")];
  const factor = await compile(factorLevels);
  const solveLower = await compile(lowerLevels);
  const solveUpper = await compile(upperLevels);
  return {
    refresh() {
      for (const { args, size } of lower) device.launch(factor, { ...args, failed }, size);
    },
    apply(r, z) {
      for (const { args, size } of lower) device.launch(solveLower, { ...args, r, z }, size);
      for (const { args, size } of upper) device.launch(solveUpper, { ...args, z }, size);
    },
  };
}

/**
 * Returns the preconditioner ILU(0), incomplete LU factors. Applying it costs as much as the product with A; on GPUs it
 * needs a barrier or a launch per level. @param isByLevels whether rows are solved by levels, or one after the other
 */
export async function iluPreconditioner(
  operator: SparseOperator,
  isByLevels = operator.device.backend !== "cpu",
): Promise<Preconditioner> {
  const parts = await preconditionerParts(operator);
  const { device, rows, owned } = parts;
  const { values } = parts.rowArrays;
  const factors = parts.buffer(values.length);
  const failed = device.createBuffer("i32", rows);
  owned.push(failed);
  const copy = await parts.compile(copyKernel);
  const memory = { ...parts, factors, failed };
  const steps = await (isByLevels ? byLevels(memory) : inOrder(memory));
  return {
    name: "ILU(0)",
    refresh() {
      device.launch(copy, { r: values, z: factors }, { items: values.length });
      steps.refresh();
    },
    apply: (r, z) => steps.apply(r, z),
    failure: () => firstFailure(failed),
    [Symbol.dispose]: () => disposeOwned(parts),
  };
}
