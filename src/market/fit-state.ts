/**
 * The state of a fit to quotes. It is plain data beside the numbers that were fitted, so that it reaches every result
 * that is computed from them, in any thread or process.
 */
export interface FitState {
  /** The path of the quotes in the book, such as `market.underlyings.ACME.volatility`. */
  readonly place: string;
  /** What is doubtful about the fit, such as "not converged"; empty if nothing is. */
  readonly doubts: readonly string[];
  /**
   * Further remarks about the fit that results repeat and that are no doubts, such as quotes that a rule leaves out.
   */
  readonly notes?: readonly string[];
  /** The first and the last quoted time, where they are known; the fit extrapolates before and after. */
  readonly first?: QuotedTime;
  readonly last?: QuotedTime;
}

/** A time at which a quoted option expires, or a quoted instrument ends. */
export interface QuotedTime {
  /** The time in years from now. */
  readonly time: number;
  /** What the quotes are, and the time as it is written in the book: "quoted expiry, 2027-06-18". */
  readonly written: string;
}

/** A trade that ends within a day of a quoted time is not outside of the quotes. In years. */
const DAY = 1 / 365;

/** The words by which the warnings of this module are recognised. */
const DOUBTFUL = "doubtful fit";

/** Returns the warnings of a result that depends on a fit up to the given time in years; none for an undefined fit. */
export function doubtsAbout(fit: FitState | undefined, time: number): string[] {
  if (fit === undefined || !(time > 0)) return [];
  const { place: path, doubts, notes = [], first, last } = fit;
  const said = (what: string, remedy: string): string => `${path}: ${DOUBTFUL}: ${what}; ${remedy}`;
  return [
    ...(doubts.length > 0 ? [said(doubts.join(", "), "mend the quotes, or choose another fit")] : []),
    ...(first !== undefined && time < first.time - DAY
      ? [said(`extrapolated before the first ${first.written}`, "add earlier quotes")]
      : []),
    ...(last !== undefined && time > last.time + DAY
      ? [said(`extrapolated after the last ${last.written}`, "add later quotes")]
      : []),
    ...notes.map((note) => `${path}: ${note}`),
  ];
}

/** Tells whether a warning of a result is a doubt of `doubtsAbout`, and no note. */
export const isDoubt = (warning: string): boolean => warning.includes(`: ${DOUBTFUL}: `);

/** Returns the state of a fit as seen some years later, when its quoted times are nearer. */
export function rollFit({ first, last, ...fit }: FitState, years: number): FitState {
  const later = ({ time, written }: QuotedTime): QuotedTime => ({ time: time - years, written });
  return {
    ...fit,
    ...(first === undefined ? {} : { first: later(first) }),
    ...(last === undefined ? {} : { last: later(last) }),
  };
}
