/** Jacobi's preconditioner, by entries and by blocks of the diagonal. */
import { i32, kernel, read, real, write } from "../../../kernel/index.ts";
import type { SparseOperator } from "../sparse/index.ts";
import { disposeOwned, firstFailure, preconditionerParts, type Preconditioner } from "./factor-parts.ts";

/**
 * The inverse of each diagonal block of `size` rows, by Gauss–Jordan elimination with partial pivoting: 2·size³ flops
 * per block; size words per row. Item b works on block b in `inverse`, column by column: entry (r, c) at (b·size + c)·
 * size + r. `failed[b]` is the first row without a pivot, or −1.
 */
const invertBlocks = kernel({
  name: "invertBlocks",
  params: {
    rows: i32,
    size: i32,
    starts: read(i32),
    column: read(i32),
    values: read(real),
    block: write(real),
    inverse: write(real),
    failed: write(i32),
  },
  body({ rows, size, starts, column, values, block, inverse, failed }, gpu) {
    const b = gpu.globalId();
    const first = b * size;
    const count = Math.min(size, rows - first);
    const base = b * size * size;
    for (let e = 0; e < size * size; e++) {
      block[base + e] = 0;
      inverse[base + e] = 0;
    }
    for (let r = 0; r < count; r++) {
      inverse[base + r * size + r] = 1;
      for (let k = starts[first + r]; k < starts[first + r + 1]; k++) {
        const c = column[k] - first;
        if (c >= 0 && c < count) block[base + c * size + r] = values[k];
      }
    }
    let bad = -1;
    for (let p = 0; p < count; p++) {
      let best = p;
      for (let r = p + 1; r < count; r++)
        if (Math.abs(block[base + p * size + r]) > Math.abs(block[base + p * size + best])) best = r;
      const pivot = block[base + p * size + best];
      if (bad < 0 && (pivot === 0 || !Number.isFinite(pivot))) bad = first + p;
      for (let c = 0; c < count; c++) {
        const at = base + c * size;
        const a = block[at + best];
        block[at + best] = block[at + p];
        block[at + p] = a / pivot;
        const i = inverse[at + best];
        inverse[at + best] = inverse[at + p];
        inverse[at + p] = i / pivot;
      }
      for (let r = 0; r < count; r++) {
        const factor = block[base + p * size + r];
        if (r !== p) {
          for (let c = 0; c < count; c++) {
            const at = base + c * size;
            block[at + r] -= factor * block[at + p];
            inverse[at + r] -= factor * inverse[at + p];
          }
        }
      }
    }
    failed[b] = bad;
  },
});

/** z = M⁻¹·r: 2·size flops and size + 2 words per row. */
const applyBlocks = kernel({
  name: "applyBlocks",
  params: { rows: i32, size: i32, inverse: read(real), r: read(real), z: write(real) },
  body({ rows, size, inverse, r, z }, gpu) {
    const i = gpu.globalId();
    const b = (i / size) | 0;
    const first = b * size;
    const count = Math.min(size, rows - first);
    let sum = 0.0;
    for (let c = 0; c < count; c++) sum += inverse[(first + c) * size + (i - first)] * r[first + c];
    z[i] = sum;
  },
});

/**
 * Returns the preconditioner by the inverses of the diagonal blocks. @param size the number of rows of a block; 1 is
 * the point Jacobi method
 */
export async function jacobiPreconditioner(operator: SparseOperator, size: number): Promise<Preconditioner> {
  const parts = await preconditionerParts(operator);
  const { device, rows, owned } = parts;
  const blocks = Math.ceil(rows / size);
  const [block, inverse] = [parts.buffer(blocks * size * size), parts.buffer(blocks * size * size)];
  const failed = device.createBuffer("i32", blocks);
  owned.push(failed);
  const invert = await parts.compile(invertBlocks);
  const multiply = await parts.compile(applyBlocks);
  return {
    name: size === 1 ? "Jacobi" : `Jacobi by blocks of ${size}`,
    refresh() {
      const { starts, column, values } = parts.rowArrays;
      const args = { rows, size, starts, column, values, block, inverse, failed };
      device.launch(invert, args, { items: blocks });
    },
    apply: (r, z) => device.launch(multiply, { rows, size, inverse, r, z }, { items: rows }),
    failure: () => firstFailure(failed),
    [Symbol.dispose]: () => disposeOwned(parts),
  };
}
