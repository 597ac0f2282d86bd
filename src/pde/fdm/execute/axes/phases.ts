import { fn, type FunctionOf, type KernelBody, type ValueOf } from "../../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { applyCondition, settle } from "./events.ts";
import { expire } from "./expire.ts";
import { assemble, factorAxes } from "./factor.ts";
import { readSolution } from "./read.ts";
import type { Row } from "../row.ts";
import { type Fault, inPhase, type Launch, type AxesPlace } from "./records.ts";
import { sweep } from "./sweep.ts";
import { setObstacle, update } from "./update.ts";

/**
 * A phase of the time loop, which works on every node or line independently. Results of other work items may be read
 * only after a barrier or in the next launch.
 */
export type Phase = FunctionOf<
  (of: {
    readonly launch: ValueOf<typeof Launch>;
    readonly place: ValueOf<typeof AxesPlace>;
    readonly step: ValueOf<typeof Row>;
    readonly found: ValueOf<typeof Fault>;
  }) => KernelBody<ValueOf<typeof Fault>>
>;

/**
 * The phases of the time loop, in order: at its begin, to assemble and factor, of a step, of a condition on its date,
 * and to read the result.
 */
export interface Phases {
  readonly begin: readonly Phase[];
  readonly factor: readonly Phase[];
  /** The phases of a time step. Those of a second sweep do nothing in steps without one. */
  readonly advance: readonly Phase[];
  readonly event: readonly Phase[];
  readonly read: readonly Phase[];
}

/**
 * Returns the phases of the time loop of a variant. A time step has one or two sweeps, each over the last axis first,
 * then the update of u.
 */
export function phasesOf(variant: AxesVariant): Phases {
  const sweeps = (corrects: boolean): readonly Phase[] =>
    variant.axes.map((_, axis) => sweep(variant, axis, corrects)).toReversed();
  return {
    begin: [expire(variant)],
    factor: [assemble(variant), factorAxes(variant)],
    advance: [
      ...(variant.obstacle === undefined ? [] : [setObstacle(variant, variant.obstacle)]),
      ...sweeps(false),
      ...(variant.correction === undefined ? [] : sweeps(true)),
      // By runs the last sweep does it.
      ...(variant.runs === undefined ? [update(variant)] : []),
    ],
    event: [applyCondition(variant), settle(variant)],
    read: [readSolution(variant)],
  };
}

/** Returns the function that performs phases one after another in one kernel, with a barrier before each. */
export const inOrder = (name: string, phases: readonly Phase[]) =>
  fn({
    name,
    params: inPhase,
    env: { phases },
    *body({ launch, place, step, found }, _gpu, { phases }) {
      let now: ValueOf<typeof Fault> = found;
      for (const phase of phases) {
        yield;
        now = yield* phase({ launch, place, step, found: now });
      }
      return now;
    },
  });
