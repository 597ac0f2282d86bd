import type { DiscreteDividend } from "../../../market/index.ts";
import type { VarianceTime } from "../problem/variance.ts";

/** The flag of a time step before which the matrix is factored again. */
export const REFACTOR = 1;
/** The flag of a Crank–Nicolson step. */
export const CRANK_NICOLSON = 2;
/** The flag of a step that ends at a dividend. */
export const DIVIDEND = 4;
/** The flag of a step that ends at an exercise date. */
export const EXERCISE = 8;
/** The flag of a step that ends at a date with barriers. */
export const BARRIERS = 16;
/** The flag of a stage of Alexander's scheme, which only grids with exercise on dates have. */
const ALEXANDER = 32;
/** The flag of a step that uses the second of the two factorisations that a time-homogeneous solver keeps. */
export const SECOND_FACTORS = 64;

/** All flags of time steps, for use as the environment of a kernel. */
export const FLAGS = { REFACTOR, CRANK_NICOLSON, DIVIDEND, EXERCISE, BARRIERS, ALEXANDER, SECOND_FACTORS } as const;

/** The coefficient γ = 1 − 1/√2 of Alexander's scheme: h of both stages as a fraction of their time step. */
const ALEXANDER_GAMMA = 1 - Math.SQRT1_2;

/** The flags of what happens before the first step of a run, and after its last one. */
const BEFORE = REFACTOR;
/** The flags of all events together. */
export const EVENT_FLAGS = DIVIDEND | EXERCISE | BARRIERS;
/** The bit position of the number of steps in the integers of `encodedSteps`. */
export const STEPS_SHIFT = 8;

/**
 * Returns the time steps of a solver in run-length encoding: one 32-bit integer for several equal steps, with their
 * flags and, from bit `STEPS_SHIFT` on, their number. Equal steps are joined only with `homogeneous` coefficients,
 * because one factorisation then serves them all, and only up to the next event.
 */
export function encodedSteps(flags: ArrayLike<number>, homogeneous: boolean): Int32Array {
  const runs: number[] = [];
  for (let step = 0; step < flags.length; step++) {
    const flag = flags[step];
    const before = step > 0 ? flags[step - 1] : EVENT_FLAGS;
    const joins =
      homogeneous &&
      (before & EVENT_FLAGS) === 0 &&
      (flag & BEFORE) === 0 &&
      ((flag ^ before) & ~(BEFORE | EVENT_FLAGS)) === 0;
    if (joins) runs[runs.length - 1] = (runs[runs.length - 1] | flag) + (1 << STEPS_SHIFT);
    else runs.push(flag | (1 << STEPS_SHIFT));
  }
  return new Int32Array(runs);
}

/** Returns the number of steps that an integer of `encodedSteps` stands for. */
export const stepCountOf = (run: number): number => run >> STEPS_SHIFT;

/**
 * An event on one date inside the life: a dividend, exercise, the monitoring of barriers, or several of them. Forward
 * in time a dividend is paid first, then barriers are monitored at the spot after it, then the holder may exercise what
 * has not been knocked out.
 */
export interface TimeEvent {
  /** The time in years from today. */
  readonly time: number;
  /** The flags DIVIDEND, EXERCISE and BARRIERS of what happens; 0 where the time grid only restarts. */
  readonly flags: number;
  /** The dividend that is paid, if any. */
  readonly dividend: DiscreteDividend | undefined;
  /** True where coefficients jump, but the solution has no kink and needs no damping (`withRestarts`). */
  readonly isSmooth?: boolean;
}

/**
 * One step of a time grid. Steps run backward from expiry, in the order of the solver.
 *
 * The grid is divided into segments, which end at the dates of events, where the solution is rough again. Steps are
 * Crank–Nicolson, except that the first steps of a segment are replaced by two implicit Euler half steps each
 * (Rannacher 1984). Both need the same matrix I − (Δt/2)·L, so a factorisation lasts as long as Δt does. For early
 * exercise Δt doubles several times in a segment, because the exercise boundary moves like √τ near expiry, and a
 * uniform grid would be of first order there.
 *
 * A segment that starts with a kink of the solution and has only one step of the coarsest grid takes that step by two
 * stages of one matrix I − hL (Alexander 1977, of second order and L-stable), h = γ·Δt₁ with γ = 1 − 1/√2. Δt₁ = Δt/2γ
 * is longer than the Crank–Nicolson steps after it, so that they need the same matrix too.
 */
interface TimeStep {
  /** The index of the segment between events; segment 0 starts today. */
  readonly segment: number;
  /** The time at which the step ends in backward time, as a fraction of its segment; less than `to`. */
  readonly from: number;
  /** The time at which the step starts in backward time, as a fraction of its segment. */
  readonly to: number;
  readonly scheme: StepScheme;
}

/**
 * The scheme of a time step. Both stages of Alexander's scheme are listed as steps from `to` to `from`, the first one
 * as a step of implicit Euler.
 */
type StepScheme = "euler" | "crank-nicolson" | "alexander-1" | "alexander-2";

/** The specification of a time grid. */
interface TimeGridSpec {
  /** The time to expiry in years. */
  readonly expiry: number;
  /** The events inside (0, expiry), in increasing order; a step ends at each of them. */
  readonly events: readonly TimeEvent[];
  /** The number of steps that the coarsest grid has if there are no events. */
  readonly steps: number;
  /**
   * The number of steps that replace each step of the coarsest grid. Grids that differ in it alone are nested, as
   * Richardson's extrapolation requires.
   */
  readonly refinement: number;
  /** The number of step sizes in a segment, each twice the one before; 1 for a uniform grid. */
  readonly phases: number;
  /**
   * The number of steps in each segment is a multiple of this; by default it is a twelfth of `steps`. With 1, dates may
   * be so close that only one step lies between them, which is too short to need Rannacher steps.
   */
  readonly unit?: number;
  /** The number of steps in each segment that two Euler half steps replace. */
  readonly rannacherSteps: number;
  /** The number of Rannacher steps in segments with fewer than half of the steps; by default `rannacherSteps`. */
  readonly rannacherStepsOfShort?: number;
  /** True where the last step, which ends today, is a short one of two Euler half steps (`instance.ts`). */
  readonly damped: boolean;
  /** True where exercise on dates makes the solution jump; otherwise exercise only gives it a kink. */
  readonly jumps?: boolean;
  /** The clock by which fractions of segments, and the shares that decide their steps, are meant; by default time's. */
  readonly clock?: VarianceTime | undefined;
}

/** Everything about a grid but its dates: few in a book, since segments have steps in round numbers. */
interface Pattern {
  readonly steps: readonly TimeStep[];
  /**
   * One word a step, see `solverKernel`. Where coefficients depend on time every step is marked for a new
   * factorisation, and a launch takes away the marks that none of its instances needs.
   */
  readonly flags: Int32Array;
  /** The step of each factorisation, and h of I − hL as a part of its segment. */
  readonly factoring: readonly { readonly step: TimeStep; readonly part: number }[];
  /** Steps with rows of coefficients, in order: those that factor, or end at an event that has some. */
  readonly eventful: readonly number[];
  /** Equal for grids with equal flags, of which both or neither are homogeneous: one kernel can solve on both. */
  readonly key: string;
  readonly homogeneous: boolean;
  /** The numbers of factorisations, of dividends paid, and of dates on which barriers are set. */
  readonly factorisations: number;
  readonly dividends: number;
  readonly barrierDates: number;
}

/** A time grid: its steps, dates and factorisations. */
export interface TimeGrid extends Pattern {
  /** The dates in years: today, those of the events, expiry. Segment i runs from dates[i] to dates[i + 1]. */
  readonly dates: readonly number[];
  readonly events: readonly TimeEvent[];
  readonly clock: VarianceTime | undefined;
  /**
   * Three numbers for each factorisation: h of I − hL in years, and the times of its step's ends in years from today.
   */
  readonly factored: readonly number[];
}

/** Patterns by what makes them. A pure function's memory, emptied when it grows beyond use. */
const patterns = new Map<string | number, Pattern>();
const MAX_PATTERNS = 512;

/**
 * Makes a time grid. `homogeneous` means that the coefficients do not depend on time, so that a factorisation lasts as
 * long as Δt does not change.
 */
export function timeGrid(spec: TimeGridSpec, homogeneous: boolean): TimeGrid {
  const dates = [0];
  for (const { time } of spec.events) dates.push(time);
  dates.push(spec.expiry);
  const counts: number[] = [];
  const { clock } = spec;
  const shareOf = (from: number, to: number): number =>
    clock === undefined ? (to - from) / spec.expiry : clock.at(to) - clock.at(from);
  for (let i = 0; i + 1 < dates.length; i++) counts.push(segmentCount(spec, i, shareOf(dates[i], dates[i + 1])));
  // A number where there is one segment, which is nearly always and which a string would make slow.
  const scheme =
    ((spec.refinement * 32 + spec.phases) * 8 + spec.rannacherSteps) * 4 +
    (spec.damped ? 2 : 0) +
    (homogeneous ? 1 : 0);
  const name =
    counts.length === 1
      ? counts[0] * 65_536 + scheme
      : `${counts.join()} ${spec.events.map(({ flags, isSmooth = false }) => (isSmooth ? "smooth" : flags)).join()} ${spec.steps} ${spec.rannacherStepsOfShort ?? ""} ${spec.unit ?? ""} ${spec.jumps ?? false} ${scheme}`;
  let pattern = patterns.get(name);
  if (pattern === undefined) {
    if (patterns.size >= MAX_PATTERNS) patterns.clear();
    patterns.set(name, (pattern = makePattern(spec, counts, homogeneous)));
  }
  const { steps, flags, factoring, eventful, key, factorisations, dividends, barrierDates } = pattern;
  // Name by name: spread, they take longer than all that is new.
  return {
    steps,
    flags,
    factoring,
    eventful,
    key,
    homogeneous,
    factorisations,
    dividends,
    barrierDates,
    dates,
    events: spec.events,
    clock,
    factored: factoredSteps(pattern, { dates, clock }),
  };
}

function factoredSteps({ factoring }: Pattern, grid: Pick<TimeGrid, "dates" | "clock">): readonly number[] {
  const { dates, clock } = grid;
  const factored: number[] = [];
  let h = 0;
  let before = 0;
  for (const { step, part } of factoring) {
    const { from, to } = stepTimes(grid, step);
    if (clock !== undefined) {
      factored.push(IMPLICIT[step.scheme] * (to - from), from, to);
      continue;
    }
    // Steps as long as those before them, or before those, get the very same h, so that a factorisation made again is
    // the same bit for bit, and one that is kept is seen to be.
    const exact = part * (dates[step.segment + 1] - dates[step.segment]);
    if (!near(exact, h)) [h, before] = [near(exact, before) ? before : exact, h];
    factored.push(h, from, to);
  }
  return factored;
}

/** Returns the times at which a step starts and ends, in years from today. */
export function stepTimes(
  { dates, clock }: Pick<TimeGrid, "dates" | "clock">,
  { segment, from, to }: TimeStep,
): { from: number; to: number } {
  const [start, end] = [dates[segment], dates[segment + 1]];
  if (clock !== undefined) {
    const shown = clock.at(start);
    const length = clock.at(end) - shown;
    const timeAt = (part: number): number =>
      part === 1 ? end : part === 0 ? start : clock.timeOf(shown + part * length);
    return { from: timeAt(from), to: timeAt(to) };
  }
  const length = end - start;
  return { from: start + from * length, to: to === 1 ? end : start + to * length };
}

/** h of I − hL as a part of the step. */
const IMPLICIT: Readonly<Record<StepScheme, number>> = {
  euler: 1,
  "crank-nicolson": 0.5,
  "alexander-1": ALEXANDER_GAMMA,
  "alexander-2": ALEXANDER_GAMMA,
};
const SCHEME_FLAGS = { euler: 0, "crank-nicolson": CRANK_NICOLSON, "alexander-1": 0, "alexander-2": ALEXANDER };

/** Returns h of I − hL of a step as a part of the step. */
export const implicitPart = (scheme: StepScheme): number => IMPLICIT[scheme];

/** h of I − hL as a part of the segment. */
function partOfSegment({ from, to, scheme }: TimeStep): number {
  return IMPLICIT[scheme] * (to - from);
}

function makePattern(spec: TimeGridSpec, counts: readonly number[], homogeneous: boolean): Pattern {
  const steps: TimeStep[] = [];
  for (let segment = counts.length - 1; segment >= 0; segment--) {
    const phases = segment === counts.length - 1 ? spec.phases : Math.min(spec.phases, 3);
    steps.push(...segmentSteps(spec, segment, stepSizes(counts[segment], phases)));
  }
  const flags = Int32Array.from(steps, (step, i) => {
    const before = steps[i - 1];
    const same = homogeneous && before?.segment === step.segment && near(partOfSegment(step), partOfSegment(before));
    const isLast = steps[i + 1]?.segment !== step.segment;
    const ends = step.segment > 0 && isLast ? spec.events[step.segment - 1].flags : 0;
    return (same ? 0 : REFACTOR) | SCHEME_FLAGS[step.scheme] | ends;
  });
  const marked = (bits: number): number[] => [...flags.keys()].filter((i) => (flags[i] & bits) !== 0);
  const factoring = marked(REFACTOR).map((i) => ({ step: steps[i], part: partOfSegment(steps[i]) }));
  return {
    steps,
    flags,
    factoring,
    eventful: marked(REFACTOR | DIVIDEND | BARRIERS),
    homogeneous,
    key: `${homogeneous} ${flags.join()}`,
    factorisations: factoring.length,
    dividends: marked(DIVIDEND).length,
    barrierDates: marked(BARRIERS).length,
  };
}

const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-9 * a;

function segmentSteps(spec: TimeGridSpec, segment: number, coarsest: readonly number[]): TimeStep[] {
  const isSmooth = spec.events[segment]?.isSmooth === true;
  if (coarsest.length === 1 && !isSmooth && bendsOnly(spec, segment)) return alexanderSteps(segment, spec.refinement);
  const sizes = coarsest.flatMap((size) => new Array<number>(spec.refinement).fill(size));
  // As a part of the steps before it small enough that its first order does not show.
  const isShort = 2 * coarsest.length < spec.steps;
  const ofShort = bendsOnly(spec, segment) ? 1 : (spec.rannacherStepsOfShort ?? spec.rannacherSteps);
  // No more than the coarsest grid has: in nested grids they are to be as many.
  const isNone = isSmooth || (spec.unit === 1 && coarsest.length === 1 && spec.steps > 2);
  const rannacherSteps = isNone ? 0 : Math.min(isShort ? ofShort : spec.rannacherSteps, coarsest.length);
  const damped = spec.damped && segment === 0;
  if (damped) sizes.push(sizes[sizes.length - 1] / 4);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const steps: TimeStep[] = [];
  let left = total; // in whole and half units: exact, so that equal steps have equal lengths
  const push = (size: number, scheme: StepScheme): void => {
    const to = left / total;
    left -= size;
    steps.push({ segment, from: left / total, to, scheme });
  };
  sizes.forEach((size, i) => {
    if (i >= rannacherSteps && !(damped && i === sizes.length - 1)) push(size, "crank-nicolson");
    else {
      push(size / 2, "euler");
      push(size / 2, "euler");
    }
  });
  return steps;
}

/** Alexander's step, Δt/2γ long, and `count` − 1 of Crank–Nicolson's, Δt long. */
function alexanderSteps(segment: number, count: number): TimeStep[] {
  const length = 1 / (count - 1 + 0.5 / ALEXANDER_GAMMA);
  const from = (count - 1) * length;
  const steps: TimeStep[] = [
    { segment, from, to: 1, scheme: "alexander-1" },
    { segment, from, to: 1, scheme: "alexander-2" },
  ];
  for (let i = count - 2; i >= 0; i--)
    steps.push({ segment, from: i * length, to: (i + 1) * length, scheme: "crank-nicolson" });
  return steps;
}

/**
 * Tells whether a segment, backward in time, begins where the solution bends but does not jump, nor was interpolated:
 * after a date of exercise, and at expiry before one. One step of the coarsest grid is then enough, for its error falls
 * with the step's square like any other's.
 */
function bendsOnly({ events, jumps = false }: TimeGridSpec, segment: number): boolean {
  const event = events[Math.min(segment, events.length - 1)];
  return event?.isSmooth === true || (!jumps && event?.flags === EXERCISE);
}

/**
 * The number of steps of a segment, in units of a twelfth or as given, so that patterns recur among trades: as the
 * square root of its share of the life. Where the solution only bends less of them will do the closer the dates: as the
 * power ¾.
 */
function segmentCount(spec: TimeGridSpec, segment: number, part: number): number {
  if (spec.events.length === 0) return spec.steps;
  const bends = bendsOnly(spec, segment);
  const root = Math.sqrt(part);
  const share = bends ? root * Math.sqrt(root) : root;
  const unit = spec.unit ?? Math.max(bends ? 1 : 2, Math.round(spec.steps / 12));
  return Math.max(unit, unit * Math.round((spec.steps * share) / unit));
}

/** Relative lengths of `count` steps that double phase by phase, as equal in number as possible, later phases first. */
function stepSizes(count: number, phases: number): number[] {
  const used = Math.max(1, Math.min(phases, count >> 1));
  const base = Math.floor(count / used);
  const rest = count - base * used;
  const sizes: number[] = [];
  for (let phase = 0; phase < used; phase++) {
    const length = base + (used - 1 - phase < rest ? 1 : 0);
    for (let i = 0; i < length; i++) sizes.push(2 ** phase);
  }
  return sizes;
}
