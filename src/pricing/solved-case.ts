import type { Arena, PointValue, Resolution } from "../fdm/index.ts";
import type { ErrorModel } from "./error-model.ts";
import { errorEstimate, type Assessed } from "./error-estimate.ts";
import { AssessedCase, type AssessedSpots, type Solving } from "./fdm-case.ts";
import { nextResolution, type Observed } from "./resolution.ts";
import type { TradeProblems } from "./trade-barriers.ts";

/** How exactly a case is to be solved. */
export interface Wanted {
  /** The error aimed at, as a part of each spot. */
  readonly accuracy: number;
  /** Relative rounding of the values. */
  readonly rounding: number;
  readonly maxNodes: number;
  readonly errorModel: ErrorModel;
}

/** Resolutions that are tried: the first, the one it predicts, and one more where that prediction was wrong. */
const MAX_TRIES = 3;
/** Where the estimate is below this many times the accuracy, √2 times finer will do: errors fall as h² at least. */
const NEARLY = 2.2;

/** What one resolution gave. */
interface Try {
  readonly size: Resolution;
  /** At today's spot, unless only the spots after it are read. */
  readonly today: (PointValue & Assessed) | undefined;
  /** At the spots after today's, if there are some. */
  readonly spots: AssessedSpots | undefined;
}

/**
 * The largest of the estimates of a case over what is allowed there, and what was observed where they are too large.
 */
interface Verdict {
  readonly excess: number;
  readonly observed: Observed;
}

/**
 * One case on its way through the solver: at one resolution after another, until its values at all the spots that are
 * read are as exact as was asked for. Each resolution names the instances that it
 * wants solved; `advance` assesses them, and goes on to a finer one where that is not enough.
 */
export class SolvedCase {
  private readonly problems: TradeProblems;
  private readonly wanted: Wanted;
  private readonly arena: Arena;
  private readonly reading: "both" | "points";
  private readonly tried: Try[] = [];
  private pending: AssessedCase | undefined;
  /** At the last resolution. */
  assessed: AssessedCase;

  /** `reading` "points": at the spots after today's alone. */
  constructor(problems: TradeProblems, size: Resolution, wanted: Wanted, arena: Arena, reading: "both" | "points") {
    this.problems = problems;
    this.wanted = wanted;
    this.arena = arena;
    this.reading = reading;
    this.assessed = new AssessedCase(problems, size, arena, reading);
    this.pending = this.assessed;
  }

  /** What is to be solved next; nothing when the case is done. */
  get instances(): readonly Solving[] {
    return this.pending?.instances ?? [];
  }

  get size(): Resolution {
    return this.assessed.size;
  }

  /** To be called when all `instances` have their values. */
  advance(): void {
    if (this.pending === undefined) return;
    const { assessed, wanted } = this;
    const { size } = assessed;
    this.tried.push({
      size,
      today: this.reading === "both" ? assessed.assess(wanted.rounding) : undefined,
      spots: assessed.assessSpots(),
    });
    const refined = this.refined();
    this.pending =
      refined === undefined ? undefined : new AssessedCase(this.problems, refined, this.arena, this.reading);
    this.assessed = this.pending ?? assessed;
  }

  /** The last resolution's value at today's spot. */
  get today(): PointValue & Assessed {
    return this.last.today as PointValue & Assessed;
  }

  /** The error estimate of that, without rounding. */
  estimate(): number {
    return errorEstimate(this.today, this.before?.today, this.wanted.errorModel, this.spotsOf[0]);
  }

  /** The last resolution's values at the spots after today's. */
  get values(): Float64Array {
    return (this.last.spots as AssessedSpots).values;
  }

  /** The error estimate at the k-th of those, without rounding. */
  estimateAt(k: number): number {
    const spots = this.last.spots as AssessedSpots;
    return errorEstimate(spots.at(k), this.before?.spots?.at(k), this.wanted.errorModel, this.spotsOf[k + 1]);
  }

  private get spotsOf(): readonly number[] {
    return this.problems.problem.spots;
  }

  private get last(): Try {
    return this.tried[this.tried.length - 1];
  }

  private get before(): Try | undefined {
    return this.tried[this.tried.length - 2];
  }

  /** The resolution to go on to, if the last one was not enough. */
  private refined(): Resolution | undefined {
    const { excess, observed } = this.verdict();
    if (this.tried.length >= MAX_TRIES || excess <= 1) return undefined;
    const { size } = this.last;
    const { accuracy, errorModel, maxNodes } = this.wanted;
    const next = nextResolution(size, observed, accuracy, errorModel, excess < NEARLY, maxNodes);
    return next.nodes === size.nodes && next.steps === size.steps ? undefined : next;
  }

  private verdict(): Verdict {
    const { accuracy } = this.wanted;
    const { today, spots } = this.last;
    const verdicts: Verdict[] = [];
    if (today !== undefined)
      verdicts.push({ excess: this.estimate() / (accuracy * this.spotsOf[0]), observed: today.observed });
    spots?.values.forEach((_, k) => {
      const excess = this.estimateAt(k) / (accuracy * this.spotsOf[k + 1]);
      if (verdicts.length === 0 || excess > 1) verdicts.push({ excess, observed: spots.at(k).observed });
    });
    return verdicts.reduce((a, b) => ({ excess: Math.max(a.excess, b.excess), observed: worse(a, b) }));
  }
}

/** Of two, what is observed where the estimate is too large. */
function worse(a: Verdict, b: Verdict): Observed {
  if (a.excess <= 1) return b.observed;
  if (b.excess <= 1) return a.observed;
  return {
    inSpace: Math.max(a.observed.inSpace, b.observed.inSpace),
    inTime: Math.max(a.observed.inTime, b.observed.inTime),
    total: Math.max(a.observed.total, b.observed.total),
    noise: Math.max(a.observed.noise, b.observed.noise),
    drift: Math.max(a.observed.drift, b.observed.drift),
  };
}
