/** The table of a batch: initial states, parameters of products, and for each step what no path changes. */
import { i32, kernel, read, real, write } from "../../kernel/index.ts";
import { LAYOUT_NUMBERS } from "../parameters.ts";
import { kernelOf, type PathShape, room, rowsOf } from "./shape.ts";

/**
 * Returns the kernel that computes the parameter table of paths, [rows, columns] as in `Rows`, with one work item for
 * each column. The rows of step n have the parameters of the model, the time at which the step ends, the shifts of its
 * normal numbers if there are any, and
 *
 *   the discount factor to the end of the step = exp(−Σ rateₘ·Δtₘ), m ≤ n.
 *
 * Memory traffic: each number is written once.
 */
export const prepareKernel = kernelOf((shape: PathShape) => {
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
    body(
      { steps, columns, modelValues, modelLayout, productValues, productLayout, controlValues, controlLayout, table },
      gpu,
      { start, coefficients, L, S, P, C, PRODUCT, CONTROL, HEAD, STEP, SHIFTS, RATE, STATE_ROOM, P_ROOM, C_ROOM },
    ): undefined {
      const column = gpu.globalId();
      const p = gpu.privateReal(P_ROOM);
      const c = gpu.privateReal(C_ROOM);
      const state = gpu.privateReal(STATE_ROOM);
      for (let j = 0; j < PRODUCT; j++)
        table[(S + j) * columns + column] = productValues[productLayout[L * j] + column * productLayout[L * j + 2]];
      for (let j = 0; j < CONTROL; j++)
        table[(S + PRODUCT + j) * columns + column] =
          controlValues[controlLayout[L * j] + column * controlLayout[L * j + 2]];
      let t = gpu.real(0);
      let exponent = gpu.real(0);
      for (let n = 0; n < steps; n++) {
        for (let j = 0; j < P; j++)
          p[j] = modelValues[modelLayout[L * j] + n * modelLayout[L * j + 1] + column * modelLayout[L * j + 2]];
        if (n === 0) {
          start({ p, state });
          for (let j = 0; j < S; j++) table[j * columns + column] = state[j];
        }
        const end = modelValues[modelLayout[L * P] + n * modelLayout[L * P + 1] + column * modelLayout[L * P + 2]];
        const dt = end - t;
        if (RATE >= 0) exponent -= p[RATE] * dt;
        if (coefficients !== undefined) coefficients({ p, t, dt, c });
        else for (let j = 0; j < P; j++) c[j] = p[j];
        const row = HEAD + n * STEP;
        table[row * columns + column] = t;
        table[(row + 1) * columns + column] = dt;
        table[(row + 2) * columns + column] = Math.exp(exponent);
        for (let j = 0; j < C; j++) table[(row + 3 + j) * columns + column] = c[j];
        for (let j = 0; j < SHIFTS; j++) {
          const at = L * (P + 1 + j);
          table[(row + 3 + C + j) * columns + column] =
            modelValues[modelLayout[at] + n * modelLayout[at + 1] + column * modelLayout[at + 2]];
        }
        t = end;
      }
    },
  });
});
