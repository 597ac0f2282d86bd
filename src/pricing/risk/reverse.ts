/** Reverse stress: by how much of a scenario a book loses an amount. */
import { isRelative, type ScenarioTable } from "../../book/index.ts";

/** The losses of a book at some multiples of a scenario, and what they may be off by. */
export interface Losses {
  readonly losses: ArrayLike<number>;
  readonly errors: ArrayLike<number>;
}

/** The first multiple at which a loss is reached, and between which the errors of values leave it. */
export interface LossMultiple {
  readonly multiple: number;
  /** The nearest multiples below and above at which the loss is less, and more, by more than its error. */
  readonly low: number;
  readonly high: number | undefined;
}

/** The intervals that multiples up to the largest are divided into, and those of a bracket. */
const STEPS = 64;
const FURTHER_STEPS = 8;
/** Where bounds are looked for around a multiple, in parts of what the error of a loss makes of it. */
const CLOSER = [-3, -1.5, 1.5, 3];
const CLOSER_ROUNDS = 2;
/** The most divisions of a bracket, and the width, relative to the multiple, to which a loss that jumps is found. */
const DIVISIONS = 24;
const WIDTH = 1e-9;

/**
 * Returns the first multiple from 0 to `most` at which a loss is reached; undefined where no step has it.
 * The bracket is divided until losses at both ends differ by no more than their errors, or the ends by 1e-9. A loss
 * that is reached and lost again between two steps is not seen.
 */
export async function firstMultiple(
  lossesAt: (multiples: readonly number[]) => Promise<Losses>,
  loss: number,
  most: number,
): Promise<LossMultiple | undefined> {
  const known: { readonly at: number; readonly loss: number; readonly error: number }[] = [];
  const evaluate = async (multiples: readonly number[]): Promise<void> => {
    const { losses, errors } = await lossesAt(multiples);
    multiples.forEach((at, i) => known.push({ at, loss: losses[i], error: errors[i] }));
    known.sort((a, b) => a.at - b.at);
  };
  const between = (from: number, to: number, steps: number): readonly number[] =>
    Array.from({ length: steps - 1 }, (_, i) => from + ((to - from) * (i + 1)) / steps);
  await evaluate([0, ...between(0, most, STEPS), most]);
  const firstAt = (): number => known.findIndex((one) => one.loss >= loss);
  if (firstAt() < 0) return undefined;
  for (let division = 0; division < DIVISIONS && firstAt() > 0; division++) {
    const [a, b] = [known[firstAt() - 1], known[firstAt()]];
    // Far beyond the loss sums overflow, errors as well.
    const isWithinError = Number.isFinite(b.loss) && b.loss - a.loss <= Math.max(a.error, b.error);
    if (isWithinError || b.at - a.at <= WIDTH * b.at) break;
    await evaluate(between(a.at, b.at, FURTHER_STEPS));
  }
  const first = firstAt();
  const b = known[first];
  const a = known[first - 1] ?? b;
  const part = b.loss > a.loss ? (loss - a.loss) / (b.loss - a.loss) : 0;
  const multiple = a.at + part * (b.at - a.at);
  const bounds = () => [
    known.findLast((one) => one.at < b.at && one.loss + one.error < loss),
    known.find((one) => one.at >= b.at && one.loss - one.error >= loss),
  ];
  // The bounds are those of earlier steps where the last bracket is within the errors: closer ones are looked for.
  for (let round = 0; round < CLOSER_ROUNDS; round++) {
    const [below, above] = bounds();
    if (below === undefined || above === undefined) break;
    const width = (Math.max(a.error, b.error) * (above.at - below.at)) / (above.loss - below.loss);
    const near = CLOSER.map((by) => multiple + by * width).filter((at) => at > below.at && at < above.at);
    if (near.length > 0) await evaluate(near);
  }
  const [low, high] = bounds();
  return { multiple, low: low?.at ?? 0, high: high?.at };
}

/** The part of a spot that is left at the largest multiple. */
const LEFT = 0.01;

/** Returns the largest multiple of a scenario that leaves a hundredth of each spot and exchange rate. */
export function largestMultiple({ names, factors, moves }: ScenarioTable, scenario: number): number {
  const falls = factors.map(({ kind }, f) => (isRelative(kind) ? -moves[f * names.length + scenario] : 0));
  return (1 - LEFT) / Math.max(0, ...falls.filter((fall) => fall > 0));
}

/** Returns multiples of the moves of a scenario as scenarios, all of its date. */
export function multiplesOf(
  { names, factors, moves, years }: ScenarioTable,
  scenario: number,
  multiples: readonly number[],
): ScenarioTable {
  return {
    names: multiples.map((multiple) => `${Number(multiple.toPrecision(6))} × ${names[scenario]}`),
    factors,
    moves: Float64Array.from(
      factors.flatMap((_, f) => multiples.map((multiple) => multiple * moves[f * names.length + scenario])),
    ),
    years: new Float64Array(multiples.length).fill(years[scenario]),
  };
}
