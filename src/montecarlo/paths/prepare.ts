/** The table of a batch: initial states, parameters of products, and for each step what no path changes. */
import { fn, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { LAYOUT_NUMBERS } from "../parameters.ts";
import { type PathShape, room, rowsOf, shapeKey } from "./shape.ts";

/** Number `at` of a table of parameters, by its layout: its first place, and the distances of steps and columns. */
const valueAt = fn({
  name: "parameterAt",
  params: { values: read(real), layout: read(i32), at: i32, n: i32, column: i32 },
  body({ values, layout, at, n, column }) {
    return values[layout[at] + n * layout[at + 1] + column * layout[at + 2]];
  },
});

/**
 * Returns the kernel that computes the parameter table of paths, [rows, columns] as in `Rows`, with one work item for
 * each column. The rows of step n have the parameters of the model, the time at which the step ends, the shifts of its
 * normal numbers if there are any, and
 *
 *   the discount factor to the end of the step = exp(−Σ rateₘ·Δtₘ), m ≤ n.
 *
 * Memory traffic: each number is written once.
 */
function makePrepare(shape: PathShape) {
  const rows = rowsOf(shape);
  const names = Object.keys(shape.model.parameters);
  return kernel({
    name: "preparePaths",
    params: {
      steps: i32,
      columns: i32,
      modelValues: read(real),
      modelLayout: read(i32),
      productValues: read(real),
      productLayout: read(i32),
      controlValues: read(real),
      controlLayout: read(i32),
      table: write(real),
    },
    env: {
      valueAt,
      start: shape.model.start,
      coefficients: shape.model.coefficients?.function,
      L: LAYOUT_NUMBERS,
      S: rows.state,
      P: rows.modelParameters,
      C: rows.coefficients,
      PRODUCT: rows.product,
      CONTROL: rows.control,
      HEAD: rows.head,
      STEP: rows.step,
      SHIFTS: shape.isShifted === true ? shape.model.normals : 0,
      RATE: names.indexOf("rate"),
      STATE_ROOM: room(rows.state),
      P_ROOM: room(rows.modelParameters),
      C_ROOM: room(rows.coefficients),
    },
    body(args, gpu, env): undefined {
      const { columns, table, modelValues: values, modelLayout: layout } = args;
      const column = gpu.globalId();
      const p = gpu.privateReal(env.P_ROOM);
      const c = gpu.privateReal(env.C_ROOM);
      const state = gpu.privateReal(env.STATE_ROOM);
      for (let j = 0; j < env.PRODUCT; j++) {
        const at = env.L * j;
        table[(env.S + j) * columns + column] =
          args.productValues[args.productLayout[at] + column * args.productLayout[at + 2]];
      }
      for (let j = 0; j < env.CONTROL; j++) {
        const at = env.L * j;
        table[(env.S + env.PRODUCT + j) * columns + column] =
          args.controlValues[args.controlLayout[at] + column * args.controlLayout[at + 2]];
      }
      let t = gpu.real(0);
      let exponent = gpu.real(0);
      for (let n = 0; n < args.steps; n++) {
        for (let j = 0; j < env.P; j++) p[j] = env.valueAt({ values, layout, at: env.L * j, n, column });
        if (n === 0) {
          env.start({ p, state });
          for (let j = 0; j < env.S; j++) table[j * columns + column] = state[j];
        }
        const end = env.valueAt({ values, layout, at: env.L * env.P, n, column });
        const dt = end - t;
        if (env.RATE >= 0) exponent -= p[env.RATE] * dt;
        if (env.coefficients !== undefined) env.coefficients({ p, t, dt, c });
        else for (let j = 0; j < env.P; j++) c[j] = p[j];
        const row = env.HEAD + n * env.STEP;
        table[row * columns + column] = t;
        table[(row + 1) * columns + column] = dt;
        table[(row + 2) * columns + column] = Math.exp(exponent);
        for (let j = 0; j < env.C; j++) table[(row + 3 + j) * columns + column] = c[j];
        for (let j = 0; j < env.SHIFTS; j++)
          table[(row + 3 + env.C + j) * columns + column] = env.valueAt({
            values,
            layout,
            at: env.L * (env.P + 1 + j),
            n,
            column,
          });
        t = end;
      }
    },
  });
}
export const prepareKernel = memoize(makePrepare, 64, (shape) => shapeKey(shape));
