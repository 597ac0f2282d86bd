import { fn, i32, real } from "../../kernel/index.ts";

/** Numbers a lane that a mesh and a vanilla payoff in closed form follow from, see `solverKernel`. */
export const CLOSED_WORDS = 6;

/** Node i of a mesh in closed form, kink·exp(width·sinh((i − at)·step)), and 0 at i = zeroAt; see `KinkedMesh`. */
export const closedNode = fn({
  name: "closedNode",
  params: [i32, real, real, real, real, real],
  body([i, kink, width, step, at, zeroAt], gpu) {
    const growth = Math.exp((gpu.real(i) - at) * step);
    const node = kink * Math.exp(width * 0.5 * (growth - 1 / growth));
    return gpu.real(i) === zeroAt ? 0.0 : node;
  },
});
