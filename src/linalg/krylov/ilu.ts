/**
 * ILU(0): incomplete factors with the pattern of the matrix (Meijerink & van der Vorst 1977; Saad 2003, section 10.3).
 */
import type { DeviceBuffer } from "../../device/index.ts";
import { hostReal, i32, kernel, read, real, write } from "../../kernel/index.ts";
import type { SparseOperator } from "../sparse/index.ts";
import { disposeAll, firstFailure, type Parts, partsOf } from "./factor-parts.ts";
import { type Levels, levelsOf, type Span, spansOf } from "./levels.ts";
import type { Preconditioner } from "./preconditioner.ts";

const GROUP = 128;

const levelParams = {
  from: i32,
  to: i32,
  order: read(i32),
  levels: read(i32),
  starts: read(i32),
  column: read(i32),
} as const;

/**
 * Rows of levels from … to − 1 of L·U, in the place of a copy of the values: uᵢⱼ, and lᵢⱼ below the diagonal.
 * `failed[i]` is i where row i has no pivot, else −1.
 */
const factorLevels = kernel({
  name: "iluFactor",
  params: { ...levelParams, factors: write(real), failed: write(i32) },
  groupSize: GROUP,
  env: { GROUP },
  *body({ from, to, order, levels, starts, column, factors, failed }, gpu, { GROUP }) {
    for (let level = from; level < to; level++) {
      const end = levels[level + 1];
      for (let at = levels[level] + gpu.globalId(); at < end; at += GROUP * gpu.groupCount()) {
        const i = order[at];
        const rowEnd = starts[i + 1];
        let pivot = 0.0;
        for (let k = starts[i]; k < rowEnd; k++) {
          const p = column[k];
          if (p === i) pivot = factors[k];
          if (p < i) {
            // Row p, which is finished: its pivot, and then what it takes from the rest of row i.
            let q = starts[p];
            const qEnd = starts[p + 1];
            while (q < qEnd && column[q] < p) q++;
            const factor = factors[k] / factors[Math.min(q, qEnd - 1)];
            factors[k] = factor;
            let next = k + 1;
            for (q = q + 1; q < qEnd; q++) {
              while (next < rowEnd && column[next] < column[q]) next++;
              if (next < rowEnd) {
                if (column[next] === column[q]) factors[next] -= factor * factors[q];
              }
            }
          }
        }
        failed[i] = pivot === 0 || !Number.isFinite(pivot) ? i : -1;
      }
      yield;
    }
  },
});

/** L·z = r, L with ones on the diagonal. */
const lowerLevels = kernel({
  name: "iluLower",
  params: { ...levelParams, factors: read(real), r: read(real), z: write(real) },
  groupSize: GROUP,
  env: { GROUP },
  *body({ from, to, order, levels, starts, column, factors, r, z }, gpu, { GROUP }) {
    for (let level = from; level < to; level++) {
      const end = levels[level + 1];
      for (let at = levels[level] + gpu.globalId(); at < end; at += GROUP * gpu.groupCount()) {
        const i = order[at];
        let sum = r[i];
        for (let k = starts[i]; k < starts[i + 1]; k++) {
          const j = column[k];
          if (j >= i) break;
          sum -= factors[k] * z[j];
        }
        z[i] = sum;
      }
      yield;
    }
  },
});

/** U·z = z. */
const upperLevels = kernel({
  name: "iluUpper",
  params: { ...levelParams, factors: read(real), z: write(real) },
  groupSize: GROUP,
  env: { GROUP },
  *body({ from, to, order, levels, starts, column, factors, z }, gpu, { GROUP }) {
    for (let level = from; level < to; level++) {
      const end = levels[level + 1];
      for (let at = levels[level] + gpu.globalId(); at < end; at += GROUP * gpu.groupCount()) {
        const i = order[at];
        let sum = z[i];
        let pivot = 1.0;
        for (let k = starts[i + 1] - 1; k >= starts[i]; k--) {
          const j = column[k];
          if (j === i) pivot = factors[k];
          if (j <= i) break;
          sum -= factors[k] * z[j];
        }
        z[i] = sum / pivot;
      }
      yield;
    }
  },
});

const copyValues = kernel({
  name: "copyValues",
  params: { values: read(real), factors: write(real) },
  body({ values, factors }, gpu) {
    factors[gpu.globalId()] = values[gpu.globalId()];
  },
});

/** Levels on the device, with the launches that go through them. */
interface Schedule {
  readonly order: DeviceBuffer;
  readonly levels: DeviceBuffer;
  readonly spans: readonly Span[];
}

function scheduled({ device, owned }: Parts, levels: Levels): Schedule {
  const upload = (values: Int32Array): DeviceBuffer => {
    const made = device.createBuffer("i32", values.length);
    device.write(made, values);
    owned.push(made);
    return made;
  };
  return { order: upload(levels.order), levels: upload(levels.starts), spans: spansOf(levels, GROUP) };
}

/** Cost: as the product with A twice, per level a barrier or a launch. The pattern is read once, for the levels. */
export async function ilu(operator: SparseOperator): Promise<Preconditioner> {
  const parts = await partsOf(operator);
  const { device, rows, precision, owned, rowArrays } = parts;
  const { starts, column, values } = rowArrays;
  const [hostStarts, hostColumn] = (await Promise.all([device.read(starts), device.read(column)])) as Int32Array[];
  const lower = scheduled(parts, levelsOf(hostStarts, hostColumn, "lower"));
  const upper = scheduled(parts, levelsOf(hostStarts, hostColumn, "upper"));
  const factors = device.createBuffer(hostReal(precision), values.length);
  const failed = device.createBuffer("i32", rows);
  owned.push(factors, failed);
  const copy = await parts.compile(copyValues);
  const factor = await parts.compile(factorLevels);
  const solveLower = await parts.compile(lowerLevels);
  const solveUpper = await parts.compile(upperLevels);
  const pattern = { starts, column, factors };
  return {
    name: "ILU(0)",
    refresh() {
      device.launch(copy, { values, factors }, { items: values.length });
      const { order, levels, spans } = lower;
      for (const { from, to, groups } of spans)
        device.launch(factor, { from, to, order, levels, ...pattern, failed }, { groups });
    },
    apply(r, z) {
      for (const { from, to, groups } of lower.spans)
        device.launch(solveLower, { from, to, order: lower.order, levels: lower.levels, ...pattern, r, z }, { groups });
      for (const { from, to, groups } of upper.spans)
        device.launch(solveUpper, { from, to, order: upper.order, levels: upper.levels, ...pattern, z }, { groups });
    },
    failure: () => firstFailure(failed),
    [Symbol.dispose]: () => disposeAll(parts),
  };
}
