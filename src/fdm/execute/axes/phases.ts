import { fn, type FunctionOf, type KernelBody, type ValueOf } from "../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { applyCondition, settle } from "./events.ts";
import { expire } from "./expire.ts";
import { assemble, factorAxes } from "./factor.ts";
import { readSolution } from "./read.ts";
import { type Fault, inPhase, type Launch, type AxesPlace, type Row } from "./records.ts";
import { runsOfLast, runsOfLines, runsOfMiddle } from "./run-sweep.ts";
import { sweepLast, sweepLines, sweepMiddle } from "./sweep.ts";
import { setObstacle, update } from "./update.ts";

/**
 * A part of the time loop that works on every node or line independently; results of other items may be read only after
 * a barrier or in the next launch.
 */
export type Phase = FunctionOf<
  (of: {
    readonly launch: ValueOf<typeof Launch>;
    readonly place: ValueOf<typeof AxesPlace>;
    readonly step: ValueOf<typeof Row>;
    readonly found: ValueOf<typeof Fault>;
  }) => KernelBody<ValueOf<typeof Fault>>
>;

/** The time loop as lists of phases. */
export interface Phases {
  readonly begin: readonly Phase[];
  readonly factor: readonly Phase[];
  /** The phases of a step; those of the correction do nothing in steps without. */
  readonly advance: readonly Phase[];
  readonly event: readonly Phase[];
  readonly read: readonly Phase[];
}

/** Returns the phases of a time step: one or two sweeps, each over the last axis first, then the update of u. */
export function phasesOf(variant: AxesVariant): Phases {
  const three = variant.axes.length > 2;
  const byRuns = variant.runs !== undefined;
  const runs = (corrects: boolean): readonly Phase[] => [
    runsOfLast(variant, corrects),
    ...(three ? [runsOfMiddle(variant, corrects)] : []),
    runsOfLines(variant, corrects),
  ];
  const lines = (corrects: boolean): readonly Phase[] => [
    sweepLast(variant, corrects),
    ...(three ? [sweepMiddle(variant, corrects)] : []),
    sweepLines(variant, corrects),
  ];
  const sweep = byRuns ? runs : lines;
  return {
    begin: [expire(variant)],
    factor: [assemble(variant), factorAxes(variant)],
    advance: [
      ...(variant.obstacle === undefined ? [] : [setObstacle(variant)]),
      ...sweep(false),
      ...(variant.correction === undefined ? [] : sweep(true)),
      ...(byRuns ? [] : [update(variant)]),
    ],
    event: [applyCondition(variant), settle(variant)],
    read: [readSolution(variant)],
  };
}

/** Returns the function that runs phases one after another in one kernel, with a barrier before each. */
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
