/** Draws trades of a family, prices them in books, and compares them with their references. */
import { readBook, type TradeResult } from "../../src/book/index.ts";
import type { Device } from "../../src/device/index.ts";
import { type Method, priceBook } from "../../src/pricing/index.ts";
import { Random } from "../properties/random.ts";
import type { Case, Family, Json, Known } from "./case.ts";

/** Rounding of values and references, relative to the spot or the notional. */
const ROUNDING = 1e-9;

/** A trade beside its reference. */
export interface Outcome {
  readonly index: number;
  readonly value: number;
  readonly estimate: number;
  readonly reference: Known;
  readonly scale: number;
  readonly method: string;
  readonly warnings: readonly string[];
  /** Why the trade has no value. */
  readonly error?: string;
  /** The trade as a book of its own, where it is not within its estimate. */
  readonly book?: Json;
}

/** The error beyond what reference and rounding may be off, in units of the estimate; infinite without a value. */
export function multipleOf({ value, estimate, reference, scale }: Outcome): number {
  if (!Number.isFinite(value) || !Number.isFinite(estimate)) return Infinity;
  const excess = Math.abs(value - reference.value) - reference.error - ROUNDING * scale;
  return excess <= 0 ? 0 : excess / Math.max(estimate, Number.MIN_VALUE);
}

export interface Draws {
  readonly seed: number;
  readonly from: number;
  readonly to: number;
}

/** Trades `from` to `to` of a family; each depends on the seed and its index alone. */
export function drawCases(family: Family, { seed, from, to }: Draws): readonly Case[] {
  return Array.from({ length: to - from }, (_, k) => {
    const random = new Random(hashOf(`${family.name} ${seed} ${from + k}`));
    for (let tries = 0; tries < 1000; tries++) {
      const drawn = family.draw(random);
      if (drawn !== undefined) return drawn;
    }
    throw new Error(`${family.name}: none of 1,000 draws suits`);
  });
}

/** FNV-1a (Fowler, Noll & Vo 1991). */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
  return hash >>> 0;
}

/** A trade to price: its case, its method, and itself. */
interface Row {
  readonly at: number;
  readonly method: Method;
  readonly trade: Json;
}

export async function priceCases(device: Device, cases: readonly Case[], from = 0): Promise<readonly Outcome[]> {
  const rows = cases.flatMap(({ trade, method = "auto", companions = [] }, at): readonly Row[] => [
    { at, method, trade },
    ...companions.map((one) => ({ at, method: one.method ?? ("auto" as const), trade: one.trade })),
  ]);
  // Cases of one family have one limit.
  const timePerTrade = Math.max(0, ...cases.map(({ seconds = 0 }) => seconds));
  const results = new Map<Row, TradeResult>();
  for (const method of new Set(rows.map((row) => row.method))) {
    const own = rows.filter((row) => row.method === method);
    const book = readBook(bookOf(cases, own));
    const priced = await priceBook(book, {
      device,
      greeks: "none",
      method,
      ...(timePerTrade === 0 ? {} : { timePerTrade }),
    });
    own.forEach((row, i) => results.set(row, priced.results[i]));
  }
  return cases.map((one, at) => {
    const own = rows.filter((row) => row.at === at).map((row) => results.get(row)!);
    return outcomeOf(one, from + at, own);
  });
}

function outcomeOf(one: Case, index: number, [own, ...others]: readonly TradeResult[]): Outcome {
  const { value, error } = knownOf(own);
  const failed = others.find((result) => result.status === "error");
  const reference = failed === undefined ? one.reference(others.map(knownOf)) : { value: NaN, error: NaN };
  const outcome = {
    index,
    value,
    estimate: error,
    reference,
    scale: one.scale,
    method: own.status === "ok" ? own.method : "none",
    warnings: own.status === "ok" ? own.warnings : [],
    ...(own.status === "error" ? { error: own.error.message } : {}),
    ...(failed?.status === "error" ? { error: `reference: ${failed.error.message}` } : {}),
  };
  if (Number.isFinite(reference.value) && multipleOf(outcome) <= 1) return outcome;
  const { method = "auto", trade } = one;
  return { ...outcome, book: { ...bookOf([one], [{ at: 0, method, trade }]), method } };
}

function knownOf(result: TradeResult): Known {
  if (result.status === "error") return { value: NaN, error: NaN };
  return { value: result.value, error: result.errorEstimate ?? NaN };
}

const AS_OF = "2026-11-20T16:00:00Z";

/** One book of the rows, in which the names of case i end with i. */
function bookOf(cases: readonly Case[], rows: readonly Row[]): Json {
  const used = [...new Set(rows.map(({ at }) => at))];
  const named = used.map((at) => ({ ...cases[at], named: (name: string): string => `${name}${at}` }));
  const merged = <T>(of: (one: (typeof named)[number]) => readonly (readonly [string, T])[]): Record<string, T> =>
    Object.fromEntries(named.flatMap(of));
  const correlations = named.flatMap((one) =>
    (one.correlations ?? []).map(([a, b, rho]) => [one.named(a), one.named(b), rho] as const),
  );
  const credit = merged((one) => (one.credit === undefined ? [] : [[one.named("A"), one.credit] as const]));
  return {
    asOf: AS_OF,
    market: {
      rates: merged((one) => [[one.named("C"), one.rates] as const]),
      underlyings: merged((one) =>
        Object.entries(one.underlyings ?? {}).map(
          ([name, own]) => [one.named(name), { ...own, currency: one.named("C") }] as const,
        ),
      ),
      ...(correlations.length === 0 ? {} : { correlations }),
      ...(Object.keys(credit).length === 0 ? {} : { credit }),
    },
    trades: rows.map(({ at, trade }, i) => ({ id: `t${i}`, ...placed(trade, (name) => `${name}${at}`) })),
  };
}

/** A trade whose underlyings and currency have the names of its book. */
function placed(trade: Json, named: (name: string) => string): Json {
  const { underlying, underlyings, currency, barriers } = trade as {
    underlying?: string;
    underlyings?: readonly string[];
    currency?: string;
    barriers?: readonly { readonly underlying?: string }[];
  };
  return {
    ...trade,
    ...(underlying === undefined ? {} : { underlying: named(underlying) }),
    ...(underlyings === undefined ? {} : { underlyings: underlyings.map(named) }),
    ...(currency === undefined ? {} : { currency: named(currency) }),
    ...(barriers === undefined
      ? {}
      : {
          barriers: barriers.map((barrier) =>
            barrier.underlying === undefined ? barrier : { ...barrier, underlying: named(barrier.underlying) },
          ),
        }),
  };
}
