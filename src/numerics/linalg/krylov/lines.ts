/** Tridiagonal systems along one axis of a grid as a preconditioner. */
import { hostRealType, i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { ShapeError } from "../../../base/errors.ts";
import type { SparseOperator } from "../sparse/index.ts";
import { TridiagonalSolver, tridiagonalSpec } from "../tridiagonal/index.ts";
import { copyKernel, disposeOwned, preconditionerParts, type Preconditioner } from "./factor-parts.ts";

/** The couplings of every row to its neighbours `stride` rows before and after on the same line, and to itself. */
const takeLines = kernel({
  name: "takeLines",
  params: {
    nodes: i32,
    stride: i32,
    starts: read(i32),
    column: read(i32),
    values: read(real),
    lower: write(real),
    diagonal: write(real),
    upper: write(real),
  },
  body({ nodes, stride, starts, column, values, lower, diagonal, upper }, gpu) {
    const i = gpu.globalId();
    const slot = ((i / stride) | 0) % nodes;
    let below = 0.0;
    let middle = 0.0;
    let above = 0.0;
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      const j = column[k];
      if (j === i) middle = values[k];
      if (j === i - stride && slot > 0) below = values[k];
      if (j === i + stride && slot < nodes - 1) above = values[k];
    }
    lower[i] = below;
    diagonal[i] = middle;
    upper[i] = above;
  },
});

/**
 * Returns the preconditioner that solves the tridiagonal systems along `axis` of a grid of this `shape`, factored by
 * Thomas' algorithm. Cost of an application: 7 words per row. @throws ShapeError | SpecError
 */
export async function linePreconditioner(
  operator: SparseOperator,
  shape: readonly number[],
  axis: number,
): Promise<Preconditioner> {
  const spec = tridiagonalSpec({ shape, axis, precision: operator.precision, factors: true, algorithm: "thomas" });
  if (spec.rows * spec.batch !== operator.rows)
    throw new ShapeError(
      `preconditioner: shape [${shape.join(", ")}] has ${spec.rows * spec.batch} nodes, expected ${operator.rows}, the rows`,
    );
  const parts = await preconditionerParts(operator);
  const { device, rows, precision, owned } = parts;
  const matrix = { lower: parts.buffer(rows), diagonal: parts.buffer(rows), upper: parts.buffer(rows) };
  const solver = await TridiagonalSolver.create(device, spec);
  owned.push(solver);
  const take = await parts.compile(takeLines);
  const copy = await parts.compile(copyKernel);
  const { rows: nodes, stride } = spec;
  return {
    name: `lines along axis ${axis}`,
    refresh() {
      device.launch(take, { nodes, stride, ...parts.rowArrays, ...matrix }, { items: rows });
      solver.factor(matrix);
    },
    apply(r, z) {
      device.launch(copy, { r, z }, { items: rows });
      solver.solve({ rhs: z });
    },
    async failure() {
      using z = device.createBuffer(hostRealType(precision), rows);
      solver.solve({ rhs: z });
      const [first] = await solver.failures();
      if (first === undefined) return undefined;
      const row = first.status.kind === "zero-pivot" ? first.status.row : 0;
      return Math.floor(first.system / stride) * nodes * stride + (first.system % stride) + row * stride;
    },
    [Symbol.dispose]: () => disposeOwned(parts),
  };
}
