import { fn, type FunctionOf, type KernelBody, type ValueOf } from "../../../kernel/index.ts";
import type { AxesVariant } from "../../operator/axes-variant.ts";
import { applyCondition, settle } from "./events.ts";
import { expire } from "./expire.ts";
import { assemble, factorAxes } from "./factor.ts";
import { readSolution } from "./read.ts";
import { type Fault, inPhase, type Launch, type Place, type Row } from "./records.ts";
import { runsOfLast, runsOfLines, runsOfMiddle } from "./run-sweep.ts";
import { sweepLast, sweepLines, sweepMiddle } from "./sweep.ts";
import { setObstacle, update } from "./update.ts";

/**
 * A part of the time loop in which every node or line is worked on by itself: whoever works on others may be seen only
 * after a barrier, or in the next launch.
 */
export type Phase = FunctionOf<
  (of: {
    readonly launch: ValueOf<typeof Launch>;
    readonly place: ValueOf<typeof Place>;
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

/** Returns the phases of a time step, which is a sweep or two, each of the last axis first, then u. */
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

/** Runs phases one after another in one kernel, with barriers before each of them. */
export function inOrder(name: string, [p0, p1, p2, p3, p4, p5, p6, p7]: readonly Phase[]) {
  return fn({
    name,
    params: inPhase,
    env: { p0, p1, p2, p3, p4, p5, p6, p7 },
    *body({ launch, place, step, found }, _gpu, env) {
      let now: ValueOf<typeof Fault> = found;
      if (env.p0 !== undefined) {
        yield;
        now = yield* env.p0({ launch, place, step, found: now });
      }
      if (env.p1 !== undefined) {
        yield;
        now = yield* env.p1({ launch, place, step, found: now });
      }
      if (env.p2 !== undefined) {
        yield;
        now = yield* env.p2({ launch, place, step, found: now });
      }
      if (env.p3 !== undefined) {
        yield;
        now = yield* env.p3({ launch, place, step, found: now });
      }
      if (env.p4 !== undefined) {
        yield;
        now = yield* env.p4({ launch, place, step, found: now });
      }
      if (env.p5 !== undefined) {
        yield;
        now = yield* env.p5({ launch, place, step, found: now });
      }
      if (env.p6 !== undefined) {
        yield;
        now = yield* env.p6({ launch, place, step, found: now });
      }
      if (env.p7 !== undefined) {
        yield;
        now = yield* env.p7({ launch, place, step, found: now });
      }
      return now;
    },
  });
}
