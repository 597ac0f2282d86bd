/** The `Gpu` that a kernel function sees when plain JavaScript calls it. */
import { hostScalars } from "./host-scalars.ts";
import type { Gpu } from "./gpu.ts";
import type { Kernel, Params, ParamValues } from "./language.ts";
import { erf, erfc } from "./math/erf.ts";
import { inverseNormalCdf } from "./math/normal-inverse.ts";
import { normalCdf, normalPdf } from "./math/normal.ts";

/** The `gpu` argument that kernels and kernel functions receive when they run as plain JavaScript, in f64. */
export const hostGpu: Gpu = Object.freeze({ ...hostScalars, erf, erfc, normalCdf, normalPdf, inverseNormalCdf });

/** Runs a kernel that has no barriers and no shared memory as plain JavaScript in f64, one work item after another. */
export function runOnHost<P extends Params>(kernel: Kernel<P>, args: ParamValues<P>, items: number): void {
  let item = 0;
  const gpu: Gpu = { ...hostGpu, globalId: () => item };
  for (; item < items; item++) kernel.body(args as never, gpu, kernel.env as never);
}
