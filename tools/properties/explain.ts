/**
 * Random books on underlyings with quotes, in two markets whose spots differ by up to 2 % and whose quotes by up to 2
 * points, and how much of their changes of value `explainBook` leaves unexplained.
 */
import { readBook } from "../../src/book/index.ts";
import type { Device } from "../../src/device/index.ts";
import { explainBook, type ExplainedTrade, type Sticky } from "../../src/pricing/index.ts";
import { Random } from "./random.ts";

type Json = Readonly<Record<string, unknown>>;

const EXPIRIES = ["2026-12-18", "2027-01-15", "2027-03-19", "2027-06-18", "2027-12-17", "2028-12-15", "2029-12-21"];
const START = Date.parse("2026-11-20");
const yearsTo = (date: string): number => (Date.parse(date) - START) / (365 * 86_400_000);
const shown = (date: number): string => new Date(date).toISOString().slice(0, 10);

/** The implied volatility of a market at a strike and an expiry. */
type Smile = (strike: number, date: string) => number;

function drawSmile(random: Random): Smile {
  const [level, skew, bend, slope] = [
    random.uniform(0.15, 0.35),
    random.uniform(-0.12, 0.02),
    random.uniform(0.02, 0.08),
    random.uniform(-0.01, 0.02),
  ];
  return (strike, date) => {
    const [k, t] = [Math.log(strike / 100), yearsTo(date)];
    const x = k / Math.sqrt(t + 0.3);
    return level + slope * Math.sqrt(t) + skew * x + bend * x * x;
  };
}

/** Moves the smile by a level, slope and curvature of its own at each expiry, by 2 points at most. */
function movedSmile(smile: Smile, random: Random): Smile {
  const common = random.uniform(-0.015, 0.015);
  const moves = new Map(
    EXPIRIES.map((date) => [
      date,
      [common + random.uniform(-0.002, 0.002), random.uniform(-0.02, 0.02), random.uniform(-0.02, 0.02)] as const,
    ]),
  );
  return (strike, date) => {
    const k = Math.log(strike / 100);
    const [level, slope, curvature] = moves.get(date)!;
    const move = level + slope * k + curvature * k * k;
    return smile(strike, date) + Math.min(Math.max(move, -0.02), 0.02);
  };
}

function quotesOf(smile: Smile, dates: readonly string[], width: number): Json[] {
  return dates.flatMap((expiry) => {
    const reach = width * Math.sqrt(yearsTo(expiry) + 0.1);
    return [-1.5, -1, -0.5, 0, 0.5, 1, 1.5].map((x) => {
      const strike = Math.round(100 * Math.exp(reach * x));
      return { expiry, strike, implied: Number(smile(strike, expiry).toFixed(6)) };
    });
  });
}

/** An underlying in both markets. */
function drawUnderlying(random: Random, days: number): readonly [Json, Json] {
  const fit = random.choice<unknown>(["svi", "ssvi", "essvi", "andreasen-huge", { sabr: { beta: 1 } }]);
  const [smile, first] = [drawSmile(random), random.integer(3)];
  const moved = movedSmile(smile, random);
  const dates = EXPIRIES.slice(first, first + 3 + random.integer(2));
  const width = random.uniform(0.15, 0.25);
  // Some books have other strikes on the later day.
  const widthThen = random.chance(0.3) ? width * random.uniform(0.9, 1.1) : width;
  const discrete = random.choice<Json[]>([
    [],
    [{ date: "2027-02-10", cash: random.uniform(0.5, 3) }],
    [{ date: "2026-11-22", cash: random.uniform(0.5, 1.5) }],
  ]);
  const dividends = { yield: random.uniform(0, 0.02), discrete };
  const paid = discrete.reduce(
    (sum, { date, cash }) => (Date.parse(date as string) <= START + days * 86_400_000 ? sum + (cash as number) : sum),
    0,
  );
  const of = (spot: number, own: Smile, reach: number): Json => ({
    spot,
    currency: "EUR",
    dividends,
    volatility: { quotes: quotesOf(own, dates, reach), fit },
  });
  return [of(100, smile, width), of((100 - paid) * (1 + random.uniform(-0.02, 0.02)), moved, widthThen)];
}

const strike = (random: Random): number => Math.round(random.uniform(85, 115));

/** Trades of every kind that has a fitted smile, by their families. */
const TRADES: Readonly<Record<string, (random: Random) => Json>> = {
  vanilla: (random) => ({ payoff: random.choice(["call", "put"]), strike: strike(random) }),
  american: (random) => ({ payoff: "put", strike: strike(random), exercise: "american" }),
  digital: (random) => ({ payoff: { digital: random.choice(["call", "put"]), cash: 10 }, strike: strike(random) }),
  formula: () => ({ payoff: { expression: "max(S - 95, 0) - 2*max(S - 105, 0)", kinks: [95, 105] } }),
  barrier: (random) => ({
    payoff: random.choice(["call", "put"]),
    strike: strike(random),
    barriers: [
      random.choice<Json>([
        { type: "down-and-in", level: Math.round(random.uniform(70, 85)) },
        { type: "up-and-out", level: Math.round(random.uniform(125, 150)) },
      ]),
    ],
  }),
  basket: (random) => ({
    underlyings: ["ACME", "BETA"],
    payoff: random.choice<Json>([{ worstOf: "put" }, { basket: "call", weights: [0.5, 0.5] }, { spread: "call" }]),
    strike: random.choice([90, 100]),
  }),
};

/** The names of the families. */
export const FAMILIES: readonly string[] = Object.keys(TRADES);

/** The books of a seed: one trade of each family in both markets. */
export function drawBooks(seed: number, families = FAMILIES): readonly [Json, Json] {
  const random = new Random(seed);
  const days = random.choice([0, 1, 3, 7]);
  const [acme, beta] = [drawUnderlying(random, days), drawUnderlying(random, days)];
  const rate = random.uniform(0.01, 0.04);
  const flat = random.uniform(0.15, 0.35);
  const isFlat = random.chance(0.3);
  const betas = isFlat ? [flat, flat + random.uniform(-0.02, 0.02)] : undefined;
  const trades = families.map((id) => ({
    id,
    ...(id === "basket" ? {} : { underlying: "ACME" }),
    expiry: shown(START + 86_400_000 * Math.round(random.uniform(60, 700))),
    quantity: Math.round(random.uniform(-100, 100)),
    ...TRADES[id](random),
  }));
  const bookOf = (at: 0 | 1): Json => ({
    asOf: shown(START + at * days * 86_400_000),
    market: {
      rates: { EUR: rate + at * random.uniform(-0.001, 0.001) },
      underlyings: {
        ACME: acme[at],
        BETA: betas === undefined ? beta[at] : { ...beta[at], volatility: betas[at] },
      },
      correlations: [["ACME", "BETA", 0.6]],
    },
    trades,
  });
  return [bookOf(0), bookOf(1)];
}

/** The unexplained part of the change of a random book, and of each of its trades. */
export interface ExplainedBook {
  readonly seed: number;
  readonly sticky: Sticky;
  /** The book's unexplained share. It is NaN if a trade has an error. */
  readonly share: number;
  readonly trades: readonly { readonly family: string; readonly share: number; readonly row: ExplainedTrade }[];
}

/** How many books to draw from which seed on, and of which families their trades are. */
export interface ExplainRun {
  readonly books: number;
  readonly seed: number;
  readonly families?: readonly string[] | undefined;
  readonly onProgress?: (done: number) => void;
}

/** Explains random books, every other one with a sticky delta. */
export async function explainRandomBooks(
  device: Device,
  { books, seed, families, onProgress }: ExplainRun,
): Promise<ExplainedBook[]> {
  const found: ExplainedBook[] = [];
  for (let i = 0; i < books; i++) {
    const sticky: Sticky = (seed + i) % 2 === 0 ? "strike" : "delta";
    const [before, after] = drawBooks(seed + i, families).map((book) => readBook(book));
    const { results, totals } = await explainBook(before, after, { device, sticky });
    const trades = results.map((row) => ({ family: row.id!, share: unexplainedShare(row), row }));
    const isWhole = trades.every(({ share }) => !Number.isNaN(share));
    found.push({ seed: seed + i, sticky, share: isWhole ? unexplainedShare(totals[0]) : Number.NaN, trades });
    onProgress?.(i + 1);
  }
  return found;
}

/**
 * Returns |unexplained| relative to |change|, or to a tenth of Σ |terms| where that is larger: where the terms nearly
 * cancel, the change is no measure of them. NaN if nothing is explained.
 */
export function unexplainedShare({
  change,
  unexplained,
  terms,
}: Pick<ExplainedTrade, "change" | "unexplained" | "terms">): number {
  if (change === null || unexplained === null) return Number.NaN;
  const size = Object.values(terms ?? {}).reduce((sum, term) => sum + Math.abs(term), 0);
  const scale = Math.max(Math.abs(change), 0.1 * size);
  return scale === 0 ? 0 : Math.abs(unexplained) / scale;
}

/** The largest share of a book's change that may be unexplained, and of that of 99 of 100 trades. */
export const MAX_SHARE = 0.02;

/** Returns a table of unexplained shares: of the books, and of the trades of each family. */
export function explainTable(found: readonly ExplainedBook[]): { readonly text: string; readonly passed: boolean } {
  const all = found.flatMap(({ trades }) => trades);
  const families = [...new Set(all.map(({ family }) => family))];
  const lines = [
    { name: "books", shares: found.map(({ share }) => share) },
    ...families.map((name) => ({
      name,
      shares: all.flatMap(({ family, share }) => (family === name ? [share] : [])),
    })),
  ].map(({ name, shares }) => {
    const sorted = shares.map((share) => (Number.isNaN(share) ? Infinity : share)).sort((a, b) => a - b);
    const at = (part: number): string => `${(100 * sorted[Math.ceil(part * sorted.length) - 1]).toFixed(3)} %`;
    const isMost = sorted[Math.ceil(0.99 * sorted.length) - 1] <= MAX_SHARE;
    const passed = name === "books" ? sorted.every((share) => share <= MAX_SHARE) : isMost;
    return { passed, text: `${name}: ${shares.length}, median ${at(0.5)}, 99 % ${at(0.99)}, max ${at(1)}` };
  });
  const offenders = found.flatMap(({ seed, sticky, trades }) =>
    trades.flatMap(({ family, share, row }) =>
      share <= MAX_SHARE ? [] : [`seed ${seed}, sticky ${sticky}, ${family}: ${share}, ${row.error?.message ?? ""}`],
    ),
  );
  return {
    text: [...lines.map(({ text }) => text), ...offenders].join("\n"),
    passed: lines.every(({ passed }) => passed),
  };
}
