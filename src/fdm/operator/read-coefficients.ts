import { fn, i32, type KernelFunction, read, real } from "../../kernel/index.ts";

/** Words of a factorisation's coefficients: of a formula in S and t, its time and shift too. */
export const coefficientWords = (formula: boolean): number => (formula ? 6 : 4);

/** A factorisation's coefficients of a lane, from `row` on; see `solverKernel`. */
export function readCoefficients(formula: boolean): KernelFunction<any, any> {
  return fn({
    name: "readCoefficients",
    params: [read(real), i32, i32, i32],
    env: { formula },
    body([coefficients, row, pitch, lane], _gpu, { formula }) {
      let time = 0.0;
      let shift = 0.0;
      if (formula) {
        time = coefficients[(row + 4) * pitch + lane];
        shift = coefficients[(row + 5) * pitch + lane];
      }
      return {
        h: coefficients[row * pitch + lane],
        hVariance: coefficients[(row + 1) * pitch + lane],
        hDrift: coefficients[(row + 2) * pitch + lane],
        hRate: coefficients[(row + 3) * pitch + lane],
        time,
        shift,
      };
    },
  });
}

/** Numbers a lane that a mesh and a vanilla payoff in closed form follow from. */
export const CLOSED_WORDS = 6;

/** A lane's mesh and vanilla payoff in closed form, `KinkedMesh` in units of the spot, and φ; see `solverKernel`. */
export const readClosed = fn({
  name: "readClosed",
  params: [read(real), i32, i32],
  body([table, pitch, lane]) {
    return {
      kink: table[lane],
      width: table[pitch + lane],
      meshStep: table[2 * pitch + lane],
      at: table[3 * pitch + lane],
      zeroAt: table[4 * pitch + lane],
      sign: table[5 * pitch + lane],
    };
  },
});

/** Node i of a mesh in closed form, kink·exp(½·width·growth), growth = 2·sinh((i − at)·step), and 0 at i = zeroAt. */
export const grownNode = fn({
  name: "grownNode",
  params: [i32, real, real, real, real, real],
  body([i, kink, width, growth, at, zeroAt], gpu) {
    const node = gpu.real(i) === at ? kink : kink * Math.exp(width * 0.5 * growth);
    return gpu.real(i) === zeroAt ? 0.0 : node;
  },
});

/** The same by itself. */
export const closedNode = fn({
  name: "closedNode",
  params: [i32, real, real, real, real, real],
  env: { grownNode },
  body([i, kink, width, step, at, zeroAt], gpu, { grownNode }) {
    const growth = Math.exp((gpu.real(i) - at) * step);
    return grownNode(i, kink, width, growth - gpu.reciprocal(growth), at, zeroAt);
  },
});
