/** Grids of a stepped chain: at each time a quantizer of the states of some paths. */
import { compileExact, type Device, uploaded } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { hostReal, type Precision } from "../../../kernel/index.ts";
import { seedWords } from "../../../numerics/random/index.ts";
import { sampleQuantizer } from "../normal/samples.ts";
import type { SteppedChain } from "./chain.ts";
import { advanceKernel } from "./walk.ts";

/** The settings of grids from paths. */
export interface GridSettings {
  readonly chain: SteppedChain;
  readonly size: number;
  readonly seed: bigint;
  readonly precision: Precision;
  readonly paths: number;
  readonly signal: AbortSignal | undefined;
}

/** The number of samples per point, as far as there are paths. */
const PER_POINT = 100;
const ITERATIONS = 30;

/** Returns the points of layers 1, 2, …: `size` of them, or as many as there are different states. */
export async function gridsOfPaths(device: Device, settings: GridSettings): Promise<readonly Float64Array[]> {
  const { chain, size, seed, precision, signal } = settings;
  const { dimension: d, step, initial, times } = chain;
  const count = Math.max(size, Math.min(settings.paths, PER_POINT * size));
  const compiled = await compileExact(device, advanceKernel(d, step), precision);
  const element = hostReal(precision);
  const start = new Float64Array(count * d).map((_, k) => initial[k % d]);
  using states = uploaded(device, element, start);
  const numbers = chain.parameters.length === 0 ? new Float64Array(1) : chain.parameters;
  using parameters = uploaded(device, element, numbers);
  const grids: Float64Array[] = [];
  for (let layer = 1; layer < times.length; layer++) {
    device.launch(compiled, { ...seedWords(seed), layer, parameters, states }, { items: count });
    const samples = Float64Array.from(await device.read(states));
    const wrong = samples.findIndex((x) => !Number.isFinite(x));
    if (wrong >= 0)
      throw new SpecError(
        `QuantizationTree: step: got ${samples[wrong]} in state[${wrong % d}] of path ${Math.floor(wrong / d)} at ` +
          `layer ${layer}, expected a finite number; check the step function and its parameters`,
      );
    const sampled = { device, samples, dimension: d, size, iterations: ITERATIONS, precision, signal };
    const { points } = await sampleQuantizer(sampled);
    grids.push(points);
  }
  return grids;
}
