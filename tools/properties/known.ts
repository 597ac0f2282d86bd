/**
 * What LIMITATIONS.md owns up to: findings beyond estimate + 2e-5 of the spot that are of a kind listed there, and no
 * further off than it says.
 */
import type { Contract } from "./contract.ts";
import type { Finding } from "./run.ts";

export interface KnownLimitation {
  /** Words of LIMITATIONS.md, so that an item which is taken out there has to go here, too. */
  readonly words: string;
  covers(finding: Finding): boolean;
}

/** Of a kind, and at most `most` of the spot beyond the estimates. */
const upTo =
  (max: number, isOfKind: (contract: Contract) => boolean) =>
  ({ contracts, excess, spot }: Finding): boolean =>
    excess <= max * spot && contracts.some(isOfKind);

const isUnnamed = ({ payoff }: Contract): boolean =>
  typeof payoff === "object" && "expression" in payoff && payoff.kinks === undefined;

const isEarly = ({ exercise = "european" }: Contract): boolean => exercise !== "european";

const paysDividends = ({ discrete = [] }: Contract): boolean => discrete.length > 0;

export const KNOWN: readonly KnownLimitation[] = [
  { words: "Kinks of a formula that `kinks` does not name", covers: upTo(2e-3, isUnnamed) },
  { words: "with barriers, by up to 2e-4", covers: upTo(2e-4, ({ barriers = [] }) => barriers.length > 0) },
  { words: "exercised early, by up to 1e-4", covers: upTo(1e-4, isEarly) },
  {
    words: "exercised early and paid dividends, by up to 2e-4",
    covers: upTo(2e-4, (contract) => isEarly(contract) && paysDividends(contract)),
  },
  {
    words: "with a CEV volatility above 2 over the life, by up to 1e-4",
    covers: upTo(
      1e-4,
      ({ volatility, spot, expiry }) =>
        typeof volatility === "object" &&
        "cev" in volatility &&
        volatility.cev.sigma * spot ** (volatility.cev.beta - 1) * Math.sqrt(expiry) > 2,
    ),
  },
];
