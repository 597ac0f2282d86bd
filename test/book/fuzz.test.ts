import { describe, expect, test } from "vitest";
import type { ZodType } from "zod";
import {
  type BookStream,
  parseBook,
  type ParsedTrade,
  readCsv,
  readHeader,
  readNdjson,
  decodeText,
  readWholeText,
} from "../../src/book/index.ts";
import { basketTradeSchema, REFUSED, tradeSchema } from "../../src/book/schema/index.ts";
import { originOf } from "../../src/book/schema/schema.ts";
import { BookError } from "../../src/base/errors.ts";
import { everything } from "../support/extent.ts";
import { asOf, market, trade } from "./books.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

/** A fifth of the inputs in `npm test`. */
const LESS = everything ? 1 : 5;

/** Same inputs on every run: xorshift32. */
function generator(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return Math.floor(((state >>> 0) / 2 ** 32) * bound);
  };
}

const SEED_BOOK = {
  asOf,
  market: {
    ...market({
      volatility: {
        termStructure: [
          { date: "2027-01-01", volatility: 0.2 },
          { date: 1, volatility: 0.25 },
        ],
      },
      dividends: {
        yield: 0.01,
        discrete: [
          { date: "2027-03-01", cash: 1.2 },
          { date: 0.5, proportional: 0.01 },
        ],
      },
    }),
    correlations: [["ACME", "ACME", 1]],
  },
  trades: [
    trade({ exercise: "american", quantity: 3, barriers: [{ type: "up-and-out", level: 140, monitoring: [0.25] }] }),
    trade({ id: "T2", payoff: { digital: "call", cash: 10 }, expiry: "2027-11-20", exercise: [0.5] }),
    trade({
      id: "T3",
      payoff: { expression: "max(S - 90, 0)", kinks: [90] },
      volatility: { cev: { sigma: 2, beta: 0.5 } },
    }),
    trade({ id: "T5", volatility: { displaced: { sigma: 0.2, shift: 30 } } }),
    trade({ id: "T6", volatility: { surface: { times: [0, "2027-11-20"], spots: [90], volatility: [[0.2], [0.3]] } } }),
    trade({ id: "T4", volatility: { quotes: { expiries: [1], strikes: [90, 100], implied: [[0.2, 0.3]] } } }),
  ],
  scenarios: { time: [0, "2027-01-20"], spot: [-0.1, 0], volatility: [0.01], rate: [0] },
};

const WORDS = [
  "__proto__",
  "constructor",
  "toString",
  "id",
  "strike",
  "put",
  "american",
  "ACME",
  "",
  "2027-02-30",
  "2027-11-20",
  "\u0000",
  "😀",
  "NaN",
];
const NUMBERS = [0, -0, -1, 1, 0.5, 1e308, -1e308, 5e-324, 1e-300, 1000, 1001, 2 ** 53, 100];
/** Text that means something to a parser. */
const SNIPPETS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '"',
  "\\",
  "\\u",
  "null",
  "1e999",
  "-",
  "\n",
  "\r\n",
  "\ufeff",
  "[[[[[[[[",
  '""',
  '{"asOf":',
  "'",
];

type Random = (bound: number) => number;
const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)];

/** Any JSON value. */
function anything(random: Random, depth: number): unknown {
  switch (random(depth > 0 ? 7 : 5)) {
    case 0:
      return pick(random, WORDS);
    case 1:
    case 2:
      return pick(random, NUMBERS);
    case 3:
      return random(2) === 0;
    case 4:
      return null;
    case 5:
      return Array.from({ length: random(4) }, () => anything(random, depth - 1));
    default:
      return JSON.parse(
        `{${Array.from({ length: random(4) }, () => `${JSON.stringify(pick(random, WORDS))}:${JSON.stringify(anything(random, depth - 1))}`).join(",")}}`,
      );
  }
}

/** A copy with one value, somewhere, replaced, removed, renamed or doubled. */
function mutated(random: Random, value: unknown): unknown {
  if (typeof value !== "object" || value === null || random(8) === 0) return anything(random, 2);
  if (Array.isArray(value)) {
    const copy: unknown[] = [...(value as unknown[])];
    const i = random(copy.length);
    const change = random(6);
    if (change === 0) copy.splice(i, 1);
    else if (change === 1) copy.push(copy[i]);
    else if (copy.length > 0) copy[i] = mutated(random, copy[i]);
    return copy;
  }
  const entries = Object.entries(value);
  if (entries.length === 0) return anything(random, 2);
  const i = random(entries.length);
  const change = random(8);
  if (change === 0) entries.splice(i, 1);
  else if (change === 1) entries[i][0] = pick(random, WORDS);
  else entries[i][1] = mutated(random, entries[i][1]);
  return Object.fromEntries(entries);
}

/** A value and all inside it. */
function valuesIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return [value];
  return [value, ...Object.values(value).flatMap(valuesIn)];
}

/** A schema and all inside it. */
function schemasIn(schema: ZodType): ZodType[] {
  const { shape, innerType, element, in: first } = schema.def as unknown as Record<string, ZodType | undefined>;
  const forms = originOf(schema)?.inside.forms?.map(({ zod }) => zod) ?? [];
  const inside = [...Object.values(shape ?? {}), innerType, element, first, ...forms];
  return [schema, ...inside.flatMap((one) => (one === undefined ? [] : schemasIn(one as ZodType)))];
}

/** The text with a few characters deleted, inserted, or put elsewhere. */
function scrambled(random: Random, text: string): string {
  let result = text;
  for (let i = random(3); i >= 0; i--) {
    const at = random(result.length);
    const inserted =
      random(2) === 0 ? pick(random, SNIPPETS) : result.slice(random(result.length)).slice(0, random(12));
    result = result.slice(0, at) + inserted + result.slice(at + random(4));
  }
  return result;
}

function checkTrade(parsed: ParsedTrade): void {
  if (!parsed.ok) {
    if (!(parsed.error instanceof BookError) || parsed.error.message === "")
      throw new Error("an error without a type or a message");
    return;
  }
  const accepted = onUnderlyings(parsed);
  const numbers = [accepted.expiry, accepted.quantity, accepted.underlying.spot, ...accepted.underlying.rates.values];
  if (accepted.volatility.kind === "deterministic") numbers.push(...accepted.volatility.sigma.values);
  if (!numbers.every(Number.isFinite)) throw new Error(`not finite: ${JSON.stringify(accepted)}`);
}

/**
 * Throws unless the parser gave a book of trades and typed errors, or a typed error. Returns whether there was a book.
 */
function checkBook(text: string): boolean {
  try {
    for (const parsed of parseBook(text).trades) checkTrade(parsed);
    return true;
  } catch (error) {
    if (!(error instanceof BookError)) throw new Error(`parseBook of ${JSON.stringify(text)}`, { cause: error });
    return false;
  }
}

async function checkStream(bytes: Uint8Array, kind: "ndjson" | "csv" | "whole"): Promise<void> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes.subarray(0, bytes.length >> 1);
    yield bytes.subarray(bytes.length >> 1);
  }
  const text = decodeText(chunks());
  try {
    if (kind === "whole") {
      parseBook(await readWholeText(text));
      return;
    }
    const { trades } = kind === "csv" ? await readCsv(text, HEADER) : await readNdjson(text);
    for await (const parsed of trades) checkTrade(parsed);
  } catch (error) {
    if (!(error instanceof BookError))
      throw new Error(`${kind} of ${Buffer.from(bytes).toString("base64")}`, { cause: error });
  }
}

/** Bytes that mean something in UTF-8, CSV or JSON. */
const BYTES = [0x00, 0x0a, 0x0d, 0x20, 0x22, 0x27, 0x2c, 0x3a, 0x5c, 0x7b, 0x7d, 0x80, 0xc3, 0xe2, 0xef, 0xf0, 0xff];

/** A copy with a few bytes changed, inserted or removed. */
function corrupted(random: Random, bytes: Buffer): Buffer {
  const copy = [...bytes];
  for (let i = random(8); i >= 0; i--) {
    const byte = random(2) === 0 ? pick(random, BYTES) : random(256);
    copy.splice(random(copy.length), random(3), ...(random(3) === 0 ? [] : [byte]));
  }
  return Buffer.from(copy);
}

function linesWithSomething(bytes: Buffer): number {
  const text = bytes.toString("latin1").split("\n");
  return text.filter((line) => Buffer.from(line, "latin1").toString("utf8").trim() !== "").length;
}

function readAs(kind: "ndjson" | "csv", bytes: Buffer, random: Random): Promise<BookStream> {
  const size = 1 + random(200);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const text = decodeText(chunks());
  return kind === "csv" ? readCsv(text, HEADER) : readNdjson(text);
}

const HEADER = readHeader({ asOf, market: market() });

describe("100,000 inputs at night: a result or a typed error, never anything else", () => {
  const whole = JSON.stringify(SEED_BOOK);

  test("40,000 books with one value changed", () => {
    const random = generator(1);
    let books = 0;
    for (let i = 0; i < 40_000 / LESS; i++) if (checkBook(JSON.stringify(mutated(random, SEED_BOOK)))) books++;
    // Most changes hit a trade, so the fuzzing reaches the trades and not only the top of the schema.
    expect(books).toBeGreaterThan(10_000 / LESS);
  });

  test("10,000 trades with a value changed: read quickly as zod reads them, or refused as it does", () => {
    const random = generator(7);
    const schemas = [tradeSchema.zod, basketTradeSchema.zod].flatMap(schemasIn).flatMap((one) => originOf(one) ?? []);
    const seen = { read: 0, refused: 0 };
    for (let i = 0; i < 10_000 / LESS; i++) {
      const one = pick(random, SEED_BOOK.trades);
      for (const value of valuesIn(random(4) === 0 ? one : mutated(random, one))) {
        const schema = pick(random, schemas);
        const exact = schema.zod.safeParse(value);
        const read = schema.read(value);
        seen[exact.success ? "read" : "refused"]++;
        expect(read === REFUSED).toBe(!exact.success);
        if (exact.success) expect(read).toEqual(exact.data);
      }
      const whole = tradeSchema.zod.safeParse(one);
      expect(tradeSchema.read(one)).toEqual(whole.data);
    }
    expect(Math.min(seen.read, seen.refused)).toBeGreaterThan(1000);
  });

  test("30,000 books with characters changed", () => {
    const random = generator(2);
    for (let i = 0; i < 30_000 / LESS; i++) checkBook(scrambled(random, whole));
  });

  test("10,000 random JSON values", () => {
    const random = generator(3);
    for (let i = 0; i < 10_000 / LESS; i++) checkBook(JSON.stringify(anything(random, 4)));
  });

  test("10,000 NDJSON and CSV streams with characters changed", async () => {
    const random = generator(4);
    const { trades, ...header } = SEED_BOOK;
    const ndjson = [header, ...trades].map((line) => JSON.stringify(line)).join("\n");
    const csv =
      'id,underlying,payoff,strike,expiry,exercise,volatility\n"a ""b""",ACME,put,100,2027-11-20,american,0.3\nb,ACME,call,90,1,,"{""local"":""S""}"\n';
    for (let i = 0; i < 10_000 / LESS; i++) {
      const kind = i % 2 === 0 ? "ndjson" : "csv";
      await checkStream(Buffer.from(scrambled(random, kind === "csv" ? csv : ndjson)), kind);
    }
  });

  test("2,000 CSV and NDJSON files with bytes changed: as many results and errors as lines with something on them", async () => {
    const random = generator(6);
    const { trades, ...header } = SEED_BOOK;
    const heads = { ndjson: JSON.stringify(header), csv: "id,underlying,payoff,strike,expiry,exercise,volatility" };
    const rows = {
      ndjson: trades.map((line) => JSON.stringify(line)),
      csv: [
        '"a ""b""",ACME,put,100,2027-11-20,american,0.3',
        'b,ACME,call,90,1,,"{""local"":""S""}"',
        "ü,ACME,put,80,2,american,",
        "",
        "d,ACME,call,120,3,,0.25",
      ],
    };
    for (let i = 0; i < 2000 / LESS; i++) {
      const kind = i % 2 === 0 ? "ndjson" : "csv";
      const body = Array.from({ length: 40 }, () => pick(random, rows[kind])).join(pick(random, ["\n", "\r\n"]));
      const changed = corrupted(random, Buffer.from(body));
      const { trades: parsed } = await readAs(kind, Buffer.concat([Buffer.from(`${heads[kind]}\n`), changed]), random);
      let count = 0;
      for await (const _ of parsed) count++;
      if (count !== linesWithSomething(changed)) throw new Error(`${kind}, ${count}: ${changed.toString("base64")}`);
    }
  });

  test("10,000 runs of random bytes", async () => {
    const random = generator(5);
    for (let i = 0; i < 10_000 / LESS; i++) {
      const bytes = Uint8Array.from({ length: random(200) }, () => random(256));
      await checkStream(bytes, pick(random, ["ndjson", "csv", "whole"] as const));
    }
  });
});
