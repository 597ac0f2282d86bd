/** The table of a batch: initial states, parameters of products, and for each step what no path changes. */
import { fn, i32, kernel, read, real, tangent, write } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";
import { LAYOUT_NUMBERS } from "../parameters.ts";
import { type PathShape, arrayLength, rowsOf, shapeKey } from "./shape.ts";

/** Number `at` of a table of parameters, by its layout: its first place, and the distances of steps and columns. */
export const valueAt = fn({
  name: "parameterAt",
  params: { values: read(real), layout: read(i32), at: i32, n: i32, column: i32 },
  body({ values, layout, at, n, column }) {
    return values[layout[at] + n * layout[at + 1] + column * layout[at + 2]];
  },
});

/** What a column of the table is computed from, and the table. */
const columnParams = {
  steps: i32,
  columns: i32,
  modelValues: read(real),
  modelLayout: read(i32),
  productValues: read(real),
  productLayout: read(i32),
  controlValues: read(real),
  controlLayout: read(i32),
  table: write(real),
} as const;

/**
 * Returns the function that computes a column of the parameter table of paths, [rows, columns] as in `Rows`. The rows
 * of step n have the parameters of the model, the time at which the step ends, the shifts of its normal numbers if
 * there are any, and
 *
 *   the discount factor to the end of the step = exp(−Σ rateₘ·Δtₘ), m ≤ n.
 *
 * It returns the time at which the last step ends. Memory traffic: each number is written once.
 */
function columnFunction(shape: PathShape) {
  const rows = rowsOf(shape);
  const names = Object.keys(shape.model.parameters);
  return fn({
    name: "prepareColumn",
    params: { ...columnParams, column: i32 },
    env: {
      valueAt,
      start: shape.model.start,
      coefficients: shape.model.coefficients?.function,
      L: LAYOUT_NUMBERS,
      S: rows.state,
      P: rows.modelParameters,
      C: rows.coefficients,
      PRODUCT: rows.product,
      DATED: rows.dated,
      CONTROL: rows.control,
      HEAD: rows.head,
      STEP: rows.step,
      SHIFTS: shape.isShifted === true ? shape.model.normals : 0,
      RATE: names.indexOf("rate"),
      STATE_ROOM: arrayLength(rows.state),
      P_ROOM: arrayLength(rows.modelParameters),
      C_ROOM: arrayLength(rows.coefficients),
    },
    body(args, gpu, env) {
      const { column, columns, table, modelValues: values, modelLayout: layout } = args;
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
        for (let j = 0; j < env.DATED; j++)
          table[(row + 3 + env.C + env.SHIFTS + j) * columns + column] = env.valueAt({
            values: args.productValues,
            layout: args.productLayout,
            at: env.L * (env.PRODUCT + j),
            n,
            column,
          });
        t = end;
      }
      return t;
    },
  });
}

/** The tangent of `columnFunction` in one direction. */
const alongFunction = (shape: PathShape) =>
  tangent(columnFunction(shape), {
    of: ["modelValues", "productValues", "controlValues", "table"],
    directions: ["along"],
  });

/** Returns the kernel that computes the parameter table, with one work item for each column. */
export const prepareKernel = memoize(
  (shape: PathShape) =>
    kernel({
      name: "preparePaths",
      params: columnParams,
      env: { prepare: columnFunction(shape) },
      body(args, gpu, { prepare }): undefined {
        const { steps, columns, modelValues, modelLayout, productValues, productLayout } = args;
        const { controlValues, controlLayout, table } = args;
        const column = gpu.globalId();
        prepare({
          steps,
          columns,
          column,
          modelValues,
          modelLayout,
          productValues,
          productLayout,
          controlValues,
          controlLayout,
          table,
        });
      },
    }),
  64,
  (shape) => shapeKey(shape),
);

/**
 * Returns the kernel that computes the tangents of the parameter table, with one work item for each column that has
 * tangents. The tangents of the values and of the table in direction d are stored behind them in the same layout,
 * d·length numbers further.
 */
export const tangentKernel = memoize(
  (shape: PathShape) =>
    kernel({
      name: "prepareTangents",
      params: {
        ...columnParams,
        directions: i32,
        modelLength: i32,
        productLength: i32,
        controlLength: i32,
        tableLength: i32,
      },
      env: {
        prepare: alongFunction(shape),
      },
      body(args, gpu, { prepare }): undefined {
        const { steps, columns, modelValues, modelLayout, productValues, productLayout } = args;
        const { controlValues, controlLayout, table } = args;
        const column = gpu.globalId();
        for (let d = 1; d <= args.directions; d++) {
          const along = {
            modelValues: gpu.part(modelValues, d * args.modelLength),
            productValues: gpu.part(productValues, d * args.productLength),
            controlValues: gpu.part(controlValues, d * args.controlLength),
            table: gpu.part(table, d * args.tableLength),
          };
          prepare({
            steps,
            columns,
            column,
            modelValues,
            modelLayout,
            productValues,
            productLayout,
            controlValues,
            controlLayout,
            table,
            along,
          });
        }
      },
    }),
  64,
  (shape) => shapeKey(shape),
);
