import { fn, i32, type KernelFunction, read, real } from "../../../kernel/index.ts";
import { pinnedValue } from "./pinned.ts";
import { inCoordinate, slopeSource } from "./row.ts";
import type { EquationVariant } from "./variant.ts";

/**
 * Row i of a stage's right-hand side (`Stage`),
 *
 *   fromU·uᵢ + fromV·vᵢ + h·(dᵢ + λᵢ + what a Neumann slope adds),
 *
 * λ the multiplier of operator splitting; for a pinned node the y that the stage's extrapolation takes to its value at the stage's end.
 */
export function rightHandSide(variant: EquationVariant): KernelFunction<any, number> {
  const { first, last, twoStages, hasSource, exercise, log, coefficients } = variant;
  const [firstSlope, lastSlope] = [first.kind === "neumann", last.kind === "neumann"];
  return fn({
    name: "rightHandSide",
    params: [
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      i32,
      i32,
      i32,
      i32,
      i32,
      real,
      real,
      real,
      real,
      real,
      real,
    ],
    env: {
      twoStages,
      hasSource,
      splitting: exercise === "operator-splitting",
      firstSlope,
      lastSlope,
      pins: first.kind === "dirichlet" || last.kind === "dirichlet" || variant.region !== undefined,
      ...(firstSlope ? { firstNumber: first.number! } : {}),
      ...(lastSlope ? { lastNumber: last.number! } : {}),
      coefficients,
      pinnedValue: pinnedValue(variant),
      inCoordinate: inCoordinate(log),
      slopeSource: slopeSource(log),
    },
    body(
      [u, v, lambda, table, parameters, i, nodes, pitch, lane, mask, t, tEnd, h, fromU, fromV, extrapolation],
      _gpu,
      env: any,
    ) {
      const S = table[i * pitch + lane];
      let value = fromU * u[i];
      if (env.twoStages) value += fromV * v[i];
      if (env.hasSource) {
        const { d } = env.coefficients(t, S, parameters, pitch, lane);
        value += h * d;
      }
      if (env.splitting) value += h * lambda[i];
      if (env.firstSlope && i === 0) {
        const { a, b } = env.coefficients(t, S, parameters, pitch, lane);
        const { diffusion, drift } = env.inCoordinate(a, b, S);
        const slope = env.firstNumber(t, S, parameters, pitch, lane);
        value += h * env.slopeSource(true, diffusion, drift, table[nodes * pitch + lane], S, slope);
      }
      if (env.lastSlope && i === nodes - 1) {
        const { a, b } = env.coefficients(t, S, parameters, pitch, lane);
        const { diffusion, drift } = env.inCoordinate(a, b, S);
        const slope = env.lastNumber(t, S, parameters, pitch, lane);
        value += h * env.slopeSource(false, diffusion, drift, table[(2 * nodes - 2) * pitch + lane], S, slope);
      }
      if (env.pins) {
        const end = env.pinnedValue(i, nodes - 1, tEnd, S, parameters, pitch, lane, mask);
        if (end.pinned) value = u[i] + (end.value - u[i]) / extrapolation;
      }
      return value;
    },
  });
}
