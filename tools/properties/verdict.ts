/**
 * What random trades must show: no crash, no NaN, estimates that hold, and nothing far off that LIMITATIONS.md does not
 * list.
 */
import { KNOWN } from "./known.ts";
import { beyond, type Finding, type RunReport } from "./run.ts";

/** The share of checks that must hold within the error estimates. */
export const WITHIN = 0.995;
/** How far beyond the estimates a check may be, relative to spot. */
export const FAR = 2e-5;
/** The share of checks that limitations may excuse; two of few. */
export const EXCUSED = 1e-3;

export interface Verdict {
  /** The share of checks within the estimates. */
  readonly within: number;
  /** Beyond estimate + 2e-5 of the spot, and of no listed kind. */
  readonly unlisted: readonly Finding[];
  /** How many findings each limitation excuses. */
  readonly listed: readonly { readonly words: string; readonly count: number }[];
  readonly passed: boolean;
}

export function verdictOn({ checks, failures, offenders }: RunReport): Verdict {
  const total = checks.reduce((sum, { n }) => sum + n, 0);
  const within = 1 - offenders.length / total;
  const far = offenders.filter((finding) => beyond(finding) > FAR);
  const unlisted = far.filter((finding) => !KNOWN.some((known) => known.covers(finding)));
  const listed = KNOWN.map(({ words, covers }) => ({ words, count: far.filter(covers).length }));
  const excused = far.length - unlisted.length;
  const isClean = failures.length === 0 && unlisted.length === 0 && excused <= Math.max(2, EXCUSED * total);
  return { within, unlisted, listed, passed: isClean && within >= WITHIN };
}

export function verdictText({ within, unlisted, listed, passed }: Verdict): string {
  const share = `${(100 * within).toFixed(3)} % of checks within the estimate`;
  return [
    `${passed ? "passed" : "failed"}: ${share}, ${unlisted.length} beyond estimate + ${FAR} of the spot and not listed`,
    ...listed.filter(({ count }) => count > 0).map(({ words, count }) => `${count} listed in LIMITATIONS: ${words}`),
  ].join("\n");
}
