import { fn, i32, real, record } from "../../../kernel/index.ts";
import { Column, valueAt } from "./column.ts";

/**
 * The number of coefficients of a factorisation: 4, or 6 with a volatility formula in S and t, which also needs a time
 * and a shift.
 */
export const coefficientWords = (formula: boolean): number => (formula ? 6 : 4);

/**
 * The coefficients of a factorisation: h, h·σ² (h alone if σ depends on S; of a formula in S and t, h times the ratio
 * of σ²'s mean over the step to that in its middle), h·(r − q), h·r and, for a formula in S and t, the time at which it
 * is evaluated and the shift of σ.
 */
export const Coefficients = record({ h: real, hVariance: real, hDrift: real, hRate: real, time: real, shift: real });

/**
 * Returns the function that reads the coefficients of an instance's factorisation from table row `row` on
 * (`solverKernel`).
 */
export function readCoefficients(formula: boolean) {
  return fn({
    name: "readCoefficients",
    params: [Column, i32],
    env: { formula, valueAt },
    body([coefficients, row], _gpu, { formula, valueAt }) {
      let time = 0.0;
      let shift = 0.0;
      if (formula) {
        time = valueAt(coefficients, row + 4);
        shift = valueAt(coefficients, row + 5);
      }
      return {
        h: valueAt(coefficients, row),
        hVariance: valueAt(coefficients, row + 1),
        hDrift: valueAt(coefficients, row + 2),
        hRate: valueAt(coefficients, row + 3),
        time,
        shift,
      };
    },
  });
}

/** The number of reals that define a mesh and a vanilla payoff in closed form. */
export const CLOSED_WORDS = 6;

/**
 * Reads an instance's mesh in closed form (`KinkedMesh`, in units of today's spot) and the sign φ of its vanilla
 * payoff; see `solverKernel`.
 */
export const readClosed = fn({
  name: "readClosed",
  params: [Column],
  env: { valueAt },
  body([table], _gpu, { valueAt }) {
    return {
      kink: valueAt(table, 0),
      width: valueAt(table, 1),
      meshStep: valueAt(table, 2),
      at: valueAt(table, 3),
      zeroAt: valueAt(table, 4),
      sign: valueAt(table, 5),
    };
  },
});

/**
 * Returns node i of a mesh in closed form, kink·exp(½·width·growth) with growth = 2·sinh((i − at)·step) as an argument,
 * and 0 at i = zeroAt.
 */
export const grownNode = fn({
  name: "grownNode",
  params: [i32, real, real, real, real, real],
  body([i, kink, width, growth, at, zeroAt], gpu) {
    const node = gpu.real(i) === at ? kink : kink * Math.exp(width * 0.5 * growth);
    return gpu.real(i) === zeroAt ? 0.0 : node;
  },
});

/** Returns node i of a mesh in closed form (`KinkedMesh`). */
export const closedNode = fn({
  name: "closedNode",
  params: [i32, real, real, real, real, real],
  env: { grownNode },
  body([i, kink, width, step, at, zeroAt], gpu, { grownNode }) {
    const growth = Math.exp((gpu.real(i) - at) * step);
    return grownNode(i, kink, width, growth - gpu.reciprocal(growth), at, zeroAt);
  },
});
