/** The `Gpu` that a kernel function sees when plain JavaScript calls it. */
import { hostScalars } from "./host-scalars.ts";
import type { Gpu } from "./gpu.ts";
import { erf, erfc } from "./math/erf.ts";
import { inverseNormalCdf } from "./math/normal-inverse.ts";
import { normalCdf, normalPdf } from "./math/normal.ts";

export const hostGpu: Gpu = Object.freeze({ ...hostScalars, erf, erfc, normalCdf, normalPdf, inverseNormalCdf });
