/** The way from a date to the one before it. */
import { i32, kernel, read, real, write } from "../../kernel/index.ts";
import { ROW } from "./kernels.ts";

/** The part of a step of TR-BDF2 that is a trapezoidal one, so that both parts have one matrix. */
const GAMMA = 2 - Math.SQRT2;

/**
 * The kernel of the way from a date to the one before: adds the corrections of cells to the values at nodes, and solves
 *
 *   ∂U/∂t + ½σ²(∂²U/∂x² − ∂U/∂x) = 0
 *
 * for each layer. `walk` has the integral of ½σ² over each step, or its length if `local` has ½σ² at the nodes of
 * each step. The scheme is TR-BDF2, which damps what dates leave. Functions a + b·eˣ, as forwards are, stay;
 * the values at both ends do.
 */
export const walkKernel = kernel({
  name: "script-steps",
  params: {
    count: i32,
    nodes: i32,
    layers: i32,
    steps: i32,
    isLocal: i32,
    data: read(real),
    given: read(real),
    kinks: read(real),
    walk: read(real),
    local: read(real),
    ratios: write(real),
    start: write(real),
    out: write(real),
  },
  env: { ROW, GAMMA },
  body(
    { count, nodes, layers, steps, isLocal, data, given, kinks, walk, local, ratios, start, out },
    gpu,
    { ROW, GAMMA },
  ): undefined {
    const item = gpu.globalId();
    const row = layers * count;
    const instance = item % count;
    const ends = (nodes - 1) * row;
    for (let j = 0; j < nodes; j++) {
      let value = given[j * row + item];
      if (j < nodes - 1) value += kinks[j * row + item];
      if (j > 0) value += kinks[ends + (j - 1) * row + item];
      out[j * row + item] = value;
    }
    const h = data[ROW.step * count + instance];
    const grown = Math.exp(h);
    const up = 2 / (h * h * (grown + 1));
    const down = up * grown;
    for (let stage = 0; stage < 2 * steps; stage++) {
      const s = stage >> 1;
      const isFirst = stage % 2 === 0;
      const length = 0.5 * GAMMA * walk[s * count + instance];
      let before = out[item];
      let ratio = gpu.real(0);
      let value = before;
      let here = out[row + item];
      for (let j = 1; j < nodes - 1; j++) {
        let part = length;
        if (isLocal !== 0) part = length * local[(s * nodes + j) * count + instance];
        const next = out[(j + 1) * row + item];
        const a = part * down;
        const b = part * up;
        let right = here + a * before + b * next - (a + b) * here;
        if (isFirst) start[j * row + item] = here;
        else right = (here - (1 - GAMMA) * (1 - GAMMA) * start[j * row + item]) / (GAMMA * (2 - GAMMA));
        const pivot = 1 / (1 + a + b - a * ratio);
        value = (right + a * value) * pivot;
        ratio = b * pivot;
        ratios[j * row + item] = ratio;
        out[j * row + item] = value;
        before = here;
        here = next;
      }
      for (let j = nodes - 2; j > 0; j--)
        out[j * row + item] = out[j * row + item] + ratios[j * row + item] * out[(j + 1) * row + item];
    }
  },
});
