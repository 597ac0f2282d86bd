/** Swings of a batch: their bounds, and results by column. */
import { SpecError } from "../../base/errors.ts";
import { typeInWords } from "../../base/argument-checks.ts";

/** The bounds of a swing option in whole units. */
interface Bounds {
  readonly least: number;
  readonly most: number;
}

/**
 * The outcome of a swing: "error" where no dates can meet its bounds, or where its payoff or value is not finite.
 * @experimental
 */
export type SwingStatus = "ok" | "error";

/** The result of `gaussianSwings` and `wholeSwings`: columns with one number for each swing. @experimental */
export interface SwingsResult {
  /** The values at time 0; NaN of a swing that failed. */
  readonly value: Float64Array;
  readonly status: readonly SwingStatus[];
  /** The errors of the swings that failed, undefined of all others. */
  readonly error: readonly (SpecError | undefined)[];
}

/** A batch of swings as it is checked. */
interface SwingBatch<S> {
  /** The name of the call in messages. */
  readonly path: string;
  readonly swings: readonly S[];
  /** The number of dates. */
  readonly dates: number;
  /** Returns a payoff that is not finite, if there is one, and its place in the swing. */
  readonly notFinite: (swing: S) => readonly [place: string, value: number] | undefined;
}

/**
 * Returns the values of those swings whose bounds can be met, as if there were no others, and the errors of the others.
 * @throws SpecError bounds that are no numbers
 */
export async function valuesWithinBounds<S extends Bounds>(
  batch: SwingBatch<S>,
  valuesOf: (swings: readonly S[]) => Promise<ArrayLike<number>>,
): Promise<SwingsResult> {
  const { swings } = batch;
  const error = swings.map((swing, i) => errorOf(batch, swing, i));
  const open = [...swings.keys()].filter((i) => error[i] === undefined);
  const values = await valuesOf(open.map((i) => swings[i]));
  const value = new Float64Array(swings.length).fill(Number.NaN);
  open.forEach((i, k) => {
    if (Number.isFinite(values[k])) value[i] = values[k];
    else error[i] = new SpecError(`${batch.path}: swings[${i}]: got payoffs beyond what the precision can represent`);
  });
  return { value, status: error.map((one) => (one === undefined ? "ok" : "error")), error };
}

function errorOf<S extends Bounds>({ path, dates, notFinite }: SwingBatch<S>, swing: S, i: number) {
  const { least, most } = swing;
  for (const [name, given] of Object.entries({ least, most }))
    if (typeof given !== "number")
      throw new SpecError(`${path}: swings[${i}].${name}: got ${typeInWords(given)}, expected a whole number of units`);
  if (!(Number.isInteger(least) && Number.isInteger(most) && least >= 0 && least <= most && most <= dates))
    return new SpecError(
      `${path}: swings[${i}]: got from ${least} to ${most} units, expected whole numbers, 0 ≤ least ≤ most ≤ ${dates}`,
    );
  const wrong = notFinite(swing);
  if (wrong === undefined) return undefined;
  return new SpecError(`${path}: swings[${i}].${wrong[0]}: got ${wrong[1]}, expected a finite number`);
}
