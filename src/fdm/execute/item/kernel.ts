import { remembered } from "../../../remembered.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { rollbackKernel } from "../rollback.ts";
import { MAX_VARIANTS, solverParams, type SolverVariant, variantKey, variantName } from "../variant.ts";
import { advance } from "./advance.ts";
import { allocate, begin, placeOf, runAt } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { factor } from "./factor.ts";
import { readSolution } from "./read.ts";

/**
 * Returns the kernel that runs the whole backward time loop of a batch of one-factor problems, one work item an
 * instance:
 *
 *   ∂V/∂t + ½σ(S,t)²S² ∂²V/∂S² + (r−q)S ∂V/∂S − rV = 0,   V(S, T) = payoff,   V ≥ obstacle if exercise is early.
 *
 * A step solves (I − hL)·y = u and sets u ← y (implicit Euler, h = Δt) or u ← 2y − u (Crank–Nicolson, h = Δt/2), so
 * that L is never applied (`step.ts`). Of Alexander's two stages (1977), h = (1 − 1/√2)·Δt, the second sets u ← (1 +
 * √2)·y − √2·u. L is the three-point operator on a nonuniform mesh (`matrix.ts`). V = obstacle at the first node where
 * it is `firstExercised`, being certain to be exercised.
 *
 * Elimination carries the row sums (Grassmann, Taksar & Heyman 1985): there are no subtractions, so the factors are
 * good to a few ulp even in f32. `brennan-schwartz` needs the exercise region at the first nodes; `policy`
 * (`policy.ts`) makes no such assumption and costs some six times as much. `dates` takes V ← max(V, obstacle) at the
 * ends of steps that say so (`exercise.ts`). With `time-dependent` the obstacle is φ·(slope·x − kink) with other
 * numbers each step (`forward.ts`).
 *
 * Where a barrier is monitored the nodes beyond it are cut off (a = c = 0) and its own node holds what is paid there,
 * exactly; at dates on which one is monitored, or begins or ends to be, the nodes beyond it are set again
 * (`barrier.ts`). With knock-ins a second value, that before any of them has been hit, follows the first from step to
 * step (`knock-in.ts`).
 *
 * Layout: value i of instance l stands at [i·pitch + l].
 *   table         columns of `nodes` values: S, V(S, T), the obstacle where it is not V(S, T), then σ²S² (shape
 *                 "table"); `closed`: six numbers that the nodes and max(φ·(S − kink), 0) follow from, kink, width,
 *                 step, at, zeroAt (`KinkedMesh`), φ; "time-dependent": slope and φ·kink of each step, the last one's
 *                 twice; after all that the surface (shape "surface"), see `readSurface`, or the formula's spot and
 *                 literals (shape "formula"), see `VolatilityShape`
 *   coefficients  per refactoring: h, h·σ² (h if σ comes from elsewhere), h·(r−q), h·r [, t, shift of σ];
 *                 `homogeneous`: after the first one h alone (`flagsOfKept`); with barriers, at expiry and at each
 *                 event: `knockInWords`, `barrierWords` (`barrier.ts`); before those per dividend: keep, cash,
 *                 `crossInWords`, `CROSSING_WORDS` a barrier; in the end per point: `pointWords`
 *   flags         one word a run of equal steps, the same for all instances (`runsOfSteps`)
 *   start         first node of each window of six that is read at the end; plus `nodes` for the value before a
 *                 knock-in
 *   out           [window·6 + k]; `closed`: and the nodes after them, as many, as they were rounded here; then the
 *                 points' values (`point.ts`)
 * Cost: a step is 7 flops and 8 (early exercise 9) words of private memory a node; refactoring about 4 steps.
 */
export const solverKernel = remembered(
  (variant: SolverVariant): Kernel =>
    rollbackKernel(
      { name: `fdm-${variantName(variant)}`, params: solverParams },
      {
        placeOf,
        allocate: allocate(variant),
        begin: begin(variant),
        runAt: runAt(variant),
        factor: factor(variant),
        advance: advance(variant),
        applyEvents: applyEvents(variant),
        read: readSolution(variant),
      },
    ),
  MAX_VARIANTS,
  variantKey,
);
