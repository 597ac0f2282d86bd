import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { endValues, liveObstacle, readHeld, readLive } from "../../conditions/barrier.ts";
import { readCoefficients, SLICE_REALS } from "../../operator/coefficients.ts";
import { SUBNORMAL_GUARD } from "../../operator/matrix.ts";
import { WINDOW } from "../../read/solution.ts";
import type { SolverVariant } from "../option/plan.ts";
import { layerOf, layersPerStep, readReversedRow, ReversedRow, stepInputs } from "../option/reversed.ts";
import { eventsBack } from "./adjoint-events.ts";
import { allocateSlopes, rowSlopes, RowSlopes } from "./adjoint-rows.ts";
import { stepBack } from "./adjoint-step.ts";
import { atSeries, atStart, factor, LoopState, stepSeriesAt } from "./factor.ts";

/**
 * Sets λ = ∂V/∂u for V at today's spot, the polynomial through the six nodes about it (`stencil`), and all derivatives
 * by inputs but those of steps to 0. A number that is far from the spot's influence would be subnormal without the
 * guard.
 */
const beginBack = fn({
  name: "beginBack",
  params: atStart,
  env: { WINDOW, guard: SUBNORMAL_GUARD },
  body({ launch, context: { instance }, memory: { x, u: lambda } }, _gpu, env) {
    const { nodes, pitch, flags, programRows, start, out } = launch;
    for (let i = 0; i < nodes; i++) lambda[i] = env.guard;
    const gradient = flags[programRows + 1];
    const end = gradient + flags[programRows + 2];
    for (let k = gradient + flags[programRows + 4]; k < end; k++) out[k * pitch + instance] = 0;
    const first = start[instance];
    for (let k = 0; k < env.WINDOW; k++) {
      const own = x[first + k];
      let weight = 1.0;
      for (let j = 0; j < env.WINDOW; j++) if (j !== k) weight = (weight * (1 - x[first + j])) / (own - x[first + j]);
      lambda[first + k] = weight;
    }
  },
});

/** λ of what is held at a node, taken out of `lambda`: 0 where nothing is. */
const takeHeld = fn({
  name: "takeHeld",
  params: { lambda: write(real), nodes: i32, held: i32 },
  body({ lambda, nodes, held }) {
    const node = Math.min(Math.max(held, 0), nodes - 1);
    const own = lambda[node];
    lambda[node] = held >= 0 ? 0.0 : own;
    return held >= 0 ? own : 0.0;
  },
});

/**
 * Returns the function that goes back through a row's steps, one after another. Ends of the live nodes whose values are
 * held take what is left of λ there: y is the held value itself.
 */
function stepsBack(variant: SolverVariant) {
  const { exercise, shape, barriers = 0 } = variant;
  return fn({
    name: "stepsBack",
    params: { ...atSeries, slopes: RowSlopes, hVariance: real, at: ReversedRow },
    env: {
      hasBarriers: barriers > 0,
      ends: endValues(barriers),
      perStep: stepInputs(shape),
      layersPerStep: layersPerStep(exercise),
      stepBack: stepBack(variant),
      layerOf: layerOf(variant),
      takeHeld,
    },
    body({ launch, context, memory, loopState, programRow, slopes, hVariance, at }, _gpu, env) {
      const { nodes, pitch, out, flags, programRows } = launch;
      const { instance } = context;
      const { u: lambda, layers } = memory;
      const { live, held, rates } = loopState;
      const { crankNicolson, alexander } = programRow;
      const extrapolation = crankNicolson ? 2.0 : alexander ? 1 + Math.SQRT2 : 1.0;
      let byLow = 0.0;
      let byHigh = 0.0;
      for (let k = programRow.count - 1; k >= 0; k--) {
        if (env.hasBarriers) {
          byLow += env.takeHeld({ lambda, nodes, held: live.lowHeld });
          byHigh += env.takeHeld({ lambda, nodes, held: live.highHeld });
        }
        const step = at.step + k;
        const layer = at.layer + k * env.layersPerStep;
        const y = env.layerOf({ launch, layers, instance, layer });
        const active = env.layerOf({ launch, layers, instance, layer: layer + 1 });
        const back = { y, active, step, extrapolation };
        env.stepBack({ launch, context, memory, loopState, slopes, hVariance, at: back });
        if (env.hasBarriers) {
          // The row (1 + hr)·y = (1 + hr)·value does not change with h·r.
          const low = env.takeHeld({ lambda, nodes, held: live.lowHeld });
          const high = env.takeHeld({ lambda, nodes, held: live.highHeld });
          byLow += (1 + rates.hRate) * low;
          byHigh += (1 + rates.hRate) * high;
          const cell = (flags[programRows + 1] + step * env.perStep + 2) * pitch + instance;
          out[cell] = out[cell] + low * held.lowValue + high * held.highValue;
        }
      }
      if (env.hasBarriers) {
        const first = (flags[programRows + 1] + at.dateInput) * pitch + instance;
        const low = first + env.ends.low * pitch;
        const high = first + env.ends.high * pitch;
        out[low] = out[low] + byLow;
        out[high] = out[high] + byHigh;
      }
    },
  });
}

/**
 * Returns the function that differentiates an item's value at today's spot by the inputs of its scheme, once the time
 * loop has kept its layers: it goes back from today to expiry (`stepBack`, `eventsBack`). The arrays of the time loop
 * serve again: λ is in `u`.
 */
export function reverse(variant: SolverVariant) {
  const { exercise, shape, barriers = 0 } = variant;
  return fn({
    name: "reverse",
    params: { ...atStart, loopState: LoopState },
    env: {
      hasBarriers: barriers > 0,
      hasLiveObstacle: barriers > 0 && exercise === "policy",
      // Where all rows are the mesh's alone they are made once, but for those at the ends.
      isOfMesh: barriers === 0 && (shape === "lognormal" || shape === "table"),
      sliceReals: SLICE_REALS,
      allocateSlopes: allocateSlopes(variant),
      beginBack,
      readReversedRow,
      rowAt: stepSeriesAt(variant),
      readCoefficients: readCoefficients(shape === "formula"),
      rowSlopes: rowSlopes(variant),
      factor: factor(variant),
      eventsBack: eventsBack(variant),
      stepsBack: stepsBack(variant),
      readLive: readLive(barriers),
      readHeld: readHeld(barriers),
      liveObstacle: liveObstacle(undefined),
    },
    *body({ launch, context, memory, loopState: today }, _gpu, env) {
      const { nodes, obstacleColumn, flags, programRows } = launch;
      const { parameters: coefficients } = context;
      const slopes = env.allocateSlopes();
      let loopState = today;
      let factorisation = -1;
      let isMade = false;
      env.beginBack({ launch, context, memory });
      for (let index = context.endRow - 1; index >= context.firstRow; index--) {
        const at = env.readReversedRow({ launch, index });
        const programRow = env.rowAt({ launch, context, memory, loopState, index });
        if (programRow.event) {
          env.eventsBack({ launch, context, memory, loopState, programRow, at });
          factorisation = -1;
        }
        let { live, held } = loopState;
        if (env.hasBarriers) {
          live = env.readLive(coefficients, at.date, 0, nodes);
          held = env.readHeld(coefficients, at.date);
          if (env.hasLiveObstacle) env.liveObstacle(context.table, obstacleColumn, 0, nodes, live, memory.obstacle);
        }
        const { exercise, surface, dormantRow } = loopState;
        const slice = surface.first + surface.spots * (1 + at.factorisation * env.sliceReals);
        const place = { move: surface.move, spots: surface.spots, first: surface.first, slice, piece: 0 };
        const of = env.readCoefficients(coefficients, at.factor);
        const rates = { hRate: of.hRate, hFirst: of.h, firstRate: of.hRate };
        loopState = { row: at.factor, rates, exercise, surface: place, live, held, dormantRow };
        if (at.factorisation !== factorisation) {
          const isWhole = !env.isOfMesh || !isMade || flags[programRows + 3] > 0;
          env.rowSlopes({ launch, context, memory, loopState, of, slopes, isWhole });
          yield* env.factor({ launch, context, memory, loopState, programRow });
          factorisation = at.factorisation;
          isMade = true;
        }
        env.stepsBack({ launch, context, memory, loopState, programRow, slopes, hVariance: of.hVariance, at });
      }
    },
  });
}
