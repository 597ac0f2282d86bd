/** What LIMITATIONS.md owns up to: findings beyond estimate + 2e-5 of the spot that are of a kind listed there. */
import type { Finding } from "./run.ts";

export interface KnownLimitation {
  /** Words of LIMITATIONS.md, so that an item which is taken out there has to go here, too. */
  readonly words: string;
  covers(finding: Finding): boolean;
}

export const KNOWN: readonly KnownLimitation[] = [
  {
    words: "A digital whose strike is moved by a large cash dividend on the day of expiry",
    covers: ({ contracts, excess, spot }) =>
      excess <= 1e-4 * spot &&
      contracts.some(
        ({ payoff, discrete = [], expiry }) =>
          typeof payoff === "object" &&
          "digital" in payoff &&
          discrete.some(({ date, cash = 0 }) => date === expiry && cash > 0.05 * spot),
      ),
  },
];
