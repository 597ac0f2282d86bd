/** Several assets: trades of `tools/properties/assets` by each method that prices them. */
import type { Method } from "../../../src/pricing/index.ts";
import { type AssetsTrade, FAMILIES as DRAWN } from "../../properties/assets/families.ts";
import type { Random } from "../../properties/random.ts";
import type { Case, Family, ReferenceKind } from "../case.ts";
import { ownValue } from "./american.ts";

const NAMES = ["A", "B", "D", "E", "F", "G", "H", "I"];

function caseOf({ market, payoff, strike, exercise, barriers, exact }: AssetsTrade, method?: Method): Case {
  const names = market.assets.map((_, i) => NAMES[i]);
  const correlations = names.flatMap((a, i) =>
    names.slice(i + 1).map((b, k) => [a, b, market.correlations[i][i + 1 + k]] as const),
  );
  const scale = Math.max(...market.assets.map(({ spot }) => spot));
  return {
    rates: market.rate,
    underlyings: Object.fromEntries(
      market.assets.map(({ spot, volatility, yield: q }, i) => [
        names[i],
        { spot, volatility, dividends: { yield: q } },
      ]),
    ),
    correlations,
    trade: {
      underlyings: names,
      payoff,
      ...(strike === undefined ? {} : { strike }),
      expiry: market.expiry,
      ...(exercise === undefined || exercise.length === 0 ? {} : { exercise }),
      ...(barriers === undefined
        ? {}
        : { barriers: barriers.map(({ asset, ...rest }) => ({ ...rest, underlying: names[asset] })) }),
    },
    ...(method === undefined ? {} : { method }),
    scale,
    reference: () => {
      if (typeof exact === "number") return { value: exact, error: 1e-6 * scale };
      const { value, error } = ownValue(exact.contract, 2e-5);
      return { value: exact.factor * value, error: exact.factor * error + 1e-7 * scale };
    },
  };
}

/** American exercise beside a barrier on dates has no reference, nor has a life of a few steps. */
function isKnown({ exact }: AssetsTrade): boolean {
  if (typeof exact === "number") return true;
  const { exercise, barriers = [] } = exact.contract;
  return !(exercise === "american" && barriers.some(({ monitoring }) => monitoring !== undefined));
}

function of(
  name: string,
  drawn: string,
  draws: string,
  method?: Method,
  reference: ReferenceKind = "quadrature",
): Family {
  const family = DRAWN.find((one) => one.name === drawn);
  if (family === undefined) throw new Error(`no family ${drawn}`);
  const draw = (random: Random): Case | undefined => {
    const trade = family.draw(random);
    return isKnown(trade) ? caseOf(trade, method) : undefined;
  };
  return { name, reference, draws, draw };
}

const EXTENT = "volatilities 6 to 300 %, a week to 10 years, correlations to ±0.99";

/** Families of which each trade takes a second or more. */
const MOST: Readonly<Record<string, number>> = {
  "two assets, early exercise": 160,
  "two assets, early exercise and a barrier": 100,
  "three assets, European": 100,
  "three assets, early exercise": 60,
  "three assets by Monte Carlo, European": 100,
  "two assets by Monte Carlo, early exercise": 200,
};

const drawn: readonly Family[] = [
  of("two assets, European", "two assets, European", EXTENT, "adi"),
  of("two assets, a barrier", "two assets, a barrier", EXTENT, "adi"),
  of("two assets, a barrier each", "two assets, a barrier each", EXTENT, "adi"),
  of("two assets, a barrier on dates", "two assets, a barrier on dates", EXTENT, "adi"),
  of("two assets, early exercise", "two assets, early exercise", EXTENT, "adi", "own solution"),
  of(
    "two assets, early exercise and a barrier",
    "two assets, early exercise and a barrier",
    EXTENT,
    "adi",
    "own solution",
  ),
  of("three assets, European", "three assets, European", EXTENT, "adi"),
  of("three assets, early exercise", "three assets, early exercise", EXTENT, "adi", "own solution"),
  of("two assets by Monte Carlo, European", "two assets, European", EXTENT, "montecarlo"),
  of("two assets by Monte Carlo, a barrier", "two assets, a barrier", EXTENT, "montecarlo"),
  of("two assets by Monte Carlo, a barrier each", "two assets, a barrier each", EXTENT, "montecarlo"),
  of("two assets by Monte Carlo, early exercise", "two assets, early exercise", EXTENT, "montecarlo", "own solution"),
  of("three assets by Monte Carlo, European", "three assets, European", EXTENT, "montecarlo"),
  of("five assets by Monte Carlo, European", "five assets, European", EXTENT, "montecarlo"),
  of("four assets by sparse grids, European", "four assets, European", EXTENT, "sparse-grid"),
];

export const assetFamilies: readonly Family[] = drawn.map((family) => {
  const most = MOST[family.name];
  return most === undefined ? family : { ...family, most };
});
