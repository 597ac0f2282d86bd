import { SpecError } from "../../../base/errors.ts";
import { timeGrid } from "./time-grid.ts";
import { type CompiledCondition, type ParameterValues, formattedParameters } from "../problem/settings.ts";
import { implicitEuler, type TimeScheme } from "./schemes.ts";

/**
 * The flags of a row of the time program, which is the list of the stages of time steps and of events that a kernel
 * executes in turn, one in each row.
 */
export const PROGRAM_BITS = {
  /** The matrix is factored before the row. */
  FACTOR: 1,
  /** The next row uses the solution before this one (`Stage`). */
  KEEP: 2,
  /** The row ends a time step. */
  STEP_END: 4,
  /** The row applies a condition on its date, such as exercise or a dividend. */
  EVENT: 8,
  /** The exercise payoff is evaluated before the row. */
  OBSTACLE: 16,
  /** The row has a second sweep (`Correction`); steps of implicit Euler have none. */
  CORRECTED: 32,
} as const;
/** The position of the eight bits in a program row's flags that hold the number of the condition to apply. */
export const CONDITION_SHIFT = 8;
/** The position of the eight bits in a program row's flags that hold the set of knock-outs in force. */
export const MASK_SHIFT = 16;

/**
 * The number of reals in a row of the time program: the times of the stage and of its end as fractions of the interval
 * between two dates, h, two weights, and the extrapolation.
 */
export const ROW_REALS = 6;

/**
 * The dates of one batch entry (today, those of its conditions, and expiry), with the conditions that are applied on
 * each.
 */
export interface Timeline {
  /** The dates in years from today, ascending. */
  readonly dates: readonly number[];
  /** The indices of the conditions on each date, in the order in which they are applied. */
  readonly events: readonly (readonly number[])[];
  /** The knock-outs in force in each interval between dates: bit k for the k-th continuously monitored knock-out. */
  readonly regions: readonly number[];
}

/**
 * The solver's program: one row for each stage of a time step and for each condition on a date, in the order in which
 * the solver performs them. Entries with equal programs share a launch.
 */
export interface TimeProgram {
  /** A text that is equal for equal programs. */
  readonly key: string;
  /** Two integers for each row: its flags, and the index of its segment (for a condition, of its date). */
  readonly words: Int32Array;
  /** `ROW_REALS` reals for each row. */
  readonly reals: Float64Array;
  /**
   * The times at which the exercise boundary is recorded, in order: the segment, and the position in it as a fraction.
   */
  readonly records: readonly { readonly segment: number; readonly position: number }[];
}

/** Returns the timeline of an entry. @throws SpecError a date outside the life */
export function timelineOf(
  conditions: readonly CompiledCondition[],
  expiry: number,
  entry: ParameterValues,
  names: readonly string[],
): Timeline {
  if (!(expiry > 0))
    throw new SpecError(
      `expiry: ${expiry} for ${formattedParameters(names, entry)}; expected a positive number of years`,
    );
  const near = 1e-9 * expiry;
  const place = (path: string, time: number): number => {
    if (!(time >= -near && time <= expiry + near))
      throw new SpecError(
        `${path}: ${time} is outside the life, 0 to ${expiry}, for ${formattedParameters(names, entry)}`,
      );
    return time < near ? 0 : time > expiry - near ? expiry : time;
  };
  const happens: { time: number; condition: number }[] = [];
  const windows: [number, number][] = [];
  conditions.forEach((condition, k) => {
    const times = condition.dates?.map((date, d) => place(`${condition.path}.at[${d}]`, date(entry))) ?? [];
    times.forEach((time) => happens.push({ time, condition: k }));
    if (condition.kind === "knock-out" && condition.dates === undefined) {
      const from = place(`${condition.path}.from`, condition.from?.(entry) ?? 0);
      const until = place(`${condition.path}.until`, condition.until?.(entry) ?? expiry);
      if (!(from < until))
        throw new SpecError(
          `${condition.path}: from ${from} until ${until} for ${formattedParameters(names, entry)}; expected from before until`,
        );
      windows.push([from, until]);
    }
  });
  const sorted = [0, ...happens.map(({ time }) => time), ...windows.flat(), expiry].toSorted((a, b) => a - b);
  const dates = sorted.filter((time, i) => i === 0 || time - sorted[i - 1] > near);
  dates[dates.length - 1] = expiry;
  const events = dates.map((date) =>
    happens.flatMap(({ time, condition }) => (Math.abs(time - date) <= near ? [condition] : [])),
  );
  const regions = dates.slice(1).map((end, i) => {
    const middle = 0.5 * (dates[i] + end);
    return windows.reduce((mask, [from, until], k) => mask | (from < middle && middle < until ? 1 << k : 0), 0);
  });
  return { dates, events, regions };
}

/** The specification of a time program. */
export interface ProgramSpec {
  readonly scheme: TimeScheme;
  /** The number of time steps before refinement. */
  readonly steps: number;
  /**
   * The number of steps that replace each step: 2 where there is also a coarser solution, so that the two grids are
   * nested.
   */
  readonly refinement: 1 | 2;
  /** The number of step sizes after expiry, each twice the one before; 1 for equal steps. */
  readonly grading: number;
  /** The number of steps after expiry and after each date that two half steps of implicit Euler replace. */
  readonly rannacherSteps: number;
  /** The number of steps between two dates is a multiple of this; see `TimeGridSpec`. */
  readonly unit?: number;
  /** True where the last step, which ends today, consists of two Euler half steps. */
  readonly damped: boolean;
  /**
   * True where the matrix depends on time, so that it is factored at each stage. `obstacleInTime` says the same of the
   * exercise payoff.
   */
  readonly matrixInTime: boolean;
  readonly obstacleInTime: boolean;
  /** The times at which the exercise boundary is recorded: after each step, on exercise dates, or never. */
  readonly record: "steps" | "events" | "none";
  /** The index of the condition that is the exercise on dates. */
  readonly exercise: number;
}

/** Makes the time program of a timeline. Rannacher steps and the grading of step sizes restart at every date. */
export function timeProgram(spec: ProgramSpec, { dates, events, regions }: Timeline): TimeProgram {
  const { scheme, steps, refinement, grading, rannacherSteps, unit, damped } = spec;
  const expiry = dates[dates.length - 1];
  const grid = timeGrid(
    {
      expiry,
      events: dates.slice(1, -1).map((time) => ({ time, flags: 0, dividend: undefined })),
      steps,
      refinement,
      phases: grading,
      rannacherSteps,
      ...(unit === undefined ? {} : { unit }),
      damped,
    },
    !spec.matrixInTime,
  );
  const { FACTOR, KEEP, STEP_END, EVENT, OBSTACLE, CORRECTED } = PROGRAM_BITS;
  const words: number[] = [];
  const reals: number[] = [];
  const records: { segment: number; position: number }[] = [];
  const happen = (date: number): void => {
    for (const condition of events[date]) {
      const recorded = spec.record === "events" && condition === spec.exercise;
      words.push(EVENT | (recorded ? STEP_END : 0) | (condition << CONDITION_SHIFT), date);
      reals.push(0, 0, 0, 0, 0, 0);
      if (recorded) records.push({ segment: Math.max(date - 1, 0), position: date === 0 ? 0 : 1 });
    }
  };
  happen(dates.length - 1);
  // Of a step; with `unit` 1 in years, since neighbouring segments of equal lengths then share a factorisation.
  let before = { segment: -1, h: 0 };
  for (const { segment, from, to, scheme: kind } of grid.steps) {
    const { stages, correction } = kind === "euler" ? implicitEuler : scheme;
    const length = to - from;
    stages.forEach((stage, s) => {
      const h = stage.implicit * length;
      const compared = unit === 1 ? h * (dates[segment + 1] - dates[segment]) : h;
      const isKept =
        before.segment === segment || (unit === 1 && s === 0 && regions[before.segment] === regions[segment]);
      const same = !spec.matrixInTime && isKept && Math.abs(before.h - compared) <= 1e-9 * compared;
      const newObstacle = spec.obstacleInTime || before.segment !== segment;
      before = { segment, h: compared };
      const ends = s === stages.length - 1 && spec.record === "steps";
      words.push(
        (same ? 0 : FACTOR) |
          (stages.length > 1 && s === 0 ? KEEP : 0) |
          (ends ? STEP_END : 0) |
          (newObstacle ? OBSTACLE : 0) |
          (correction === undefined ? 0 : CORRECTED) |
          (regions[segment] << MASK_SHIFT),
        segment,
      );
      reals.push(to - stage.at * length, to - stage.end * length, h, stage.fromU, stage.fromV, stage.extrapolation);
      if (ends) records.push({ segment, position: from });
    });
    if (from === 0) happen(segment);
  }
  return {
    key: `${words.join()}|${reals.join()}`,
    words: Int32Array.from(words),
    reals: Float64Array.from(reals),
    records,
  };
}
