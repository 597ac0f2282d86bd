/** Reads named scenarios: which names a market has for its factors, and what the moves of a book are in numbers. */
import { BookError } from "../base/errors.ts";
import type { ResolvedMarket } from "./market.ts";
import { didYouMean, quote } from "./names.ts";
import type { PathOf } from "./paths.ts";
import {
  EVERY,
  FACTOR_KINDS,
  type FactorKind,
  type ScenarioFactor,
  type ScenarioTable,
  ScenarioTableBuilder,
} from "./scenario-table.ts";
import type { NamedScenariosSpec } from "./schema/index.ts";
import type { Market } from "./types.ts";
import { type AsOf, MAX_YEARS, parseTime, type TimeSpec, yearsFrom, yearsText } from "./time.ts";

/** The names and the spots that scenarios of a market may move. */
export interface ScenarioMarket {
  /** Returns the names that factors of a kind have. */
  namesOf(kind: FactorKind): readonly string[];
  /** Returns today's value of a spot or an exchange rate. */
  spotOf(kind: FactorKind, name: string): number;
}

/** Returns what scenarios of a market may move. */
export function scenarioMarket(market: Market | ResolvedMarket): ScenarioMarket {
  const { rates, underlyings, credit, exchangeRates = new Map<string, number>() } = market;
  const spots = [...underlyings.values()].filter(({ pair }) => pair === undefined).map(({ name }) => name);
  const issuers = (): readonly string[] => {
    const { names, recoveries } = "linear" in market ? market.linear.value.curves : { names: [], recoveries: [] };
    return [...credit.keys(), ...names.filter((_, c) => recoveries[c] !== undefined)];
  };
  return {
    namesOf(kind) {
      switch (kind) {
        case "spot":
        case "dividend":
          return spots;
        case "volatility":
        case "skew":
          return [...underlyings.keys()];
        case "rate":
        case "rateVolatility":
          return [...rates.keys()];
        case "fx":
          return [...exchangeRates.keys()];
        case "credit":
          return issuers();
        default:
          return kind satisfies never;
      }
    },
    spotOf: (kind, name) => (kind === "fx" ? exchangeRates.get(name)! : underlyings.get(name)!.spot),
  };
}

/**
 * Checks the name of a factor. @throws BookError for one that the market does not have, with the nearest name and what
 * kind of factor has it
 */
export function checkFactor({ kind, of }: ScenarioFactor, market: ScenarioMarket, place: string): void {
  const known = market.namesOf(kind);
  if (of === EVERY || known.includes(of)) return;
  const other = FACTOR_KINDS.find((one) => one !== kind && market.namesOf(one).includes(of));
  const remedy =
    didYouMean(of, known) ||
    (other === undefined ? "" : `; ${quote(of)} has ${THINGS[other]}: write "${other}"`) ||
    (known.length === 0 ? "; the market has none" : `; known are ${known.slice(0, 10).join(", ")}`);
  throw new BookError(place, `no ${kind} of ${quote(of)}${remedy}`);
}

const THINGS: Readonly<Record<FactorKind, string>> = {
  spot: "a spot",
  volatility: "a volatility",
  skew: "a volatility",
  rate: "rates",
  dividend: "dividends",
  fx: "an exchange rate",
  credit: "credit",
  rateVolatility: "rates",
};

/** A move as it is written: a relative or absolute one, or a new spot, or an amount in its currency. */
export type WrittenMove = number | { readonly to: number } | { readonly by: number };

const isByMaturity = (written: WrittenMove | ReadonlyMap<string, number>): written is ReadonlyMap<string, number> =>
  written instanceof Map;

/** Returns a move as a number. @throws BookError for a spot that is not above 0, and a level for every name */
export function moveOf(
  { kind, of }: ScenarioFactor,
  written: WrittenMove,
  market: ScenarioMarket,
  place: string,
): number {
  if (typeof written === "number") return written;
  if (of === EVERY) throw new BookError(place, `expected a relative move of every ${kind}; write levels by name`);
  const today = market.spotOf(kind, of);
  const level = "to" in written ? written.to : today + written.by;
  if (level > 0) return level / today - 1;
  throw new BookError(place, `expected a move that leaves ${quote(of)} above 0, which is ${today} today`);
}

/** Returns the years of a tenor; undefined for another text. */
export function maturityOf(tenor: string, asOf: AsOf): number | undefined {
  const time = parseTime(tenor);
  const years = time?.kind === "tenor" ? yearsFrom(asOf, time) : 0;
  return years > 0 ? years : undefined;
}

/** Returns the years to the date of a scenario. @throws BookError for a date before `asOf` */
export function scenarioYears(time: TimeSpec | undefined, asOf: AsOf, place: string): number {
  const years = time === undefined ? 0 : yearsFrom(asOf, time);
  if (years >= 0 && years <= MAX_YEARS) return years;
  const side = years < 0 ? "before" : "after";
  throw new BookError(
    place,
    `expected a date from asOf to ${MAX_YEARS} years after, got one ${yearsText(Math.abs(years))} ${side} it`,
  );
}

/** Converts the named scenarios of a book to their table. @throws BookError for names that the market does not have */
export function namedScenarios(
  specs: NamedScenariosSpec,
  asOf: AsOf,
  market: ScenarioMarket,
  pathOf: PathOf,
): ScenarioTable {
  const builder = new ScenarioTableBuilder();
  specs.forEach(({ name, weight, moves: { time, ...moves } }, i) => {
    builder.begin(name, scenarioYears(time, asOf, pathOf(i, "moves", "time")), weight, pathOf(i, "name"));
    for (const kind of FACTOR_KINDS)
      for (const [of, written] of moves[kind] ?? new Map<string, WrittenMove | ReadonlyMap<string, number>>()) {
        const place = pathOf(i, "moves", kind, of);
        checkFactor({ kind, of }, market, place);
        if (!isByMaturity(written)) builder.move({ kind, of }, moveOf({ kind, of }, written, market, place), place);
        else
          for (const [tenor, by] of written) {
            const at = maturityOf(tenor, asOf);
            const path = pathOf(i, "moves", kind, of, tenor);
            if (at === undefined) throw new BookError(path, 'expected a tenor such as "6M" or "5Y"');
            builder.move({ kind, of, at }, by, path);
          }
      }
  });
  return builder.table();
}
