/** Books of quotes that no market has: each fit says what it left out, or is an error with the path of a quote. */
import { describe, expect, it } from "vitest";
import { BookError } from "../../src/base/errors.ts";
import { readHeader } from "../../src/index.ts";
import { counted } from "../support/extent.ts";
import { uniform } from "../calibration/uniform.ts";

const FITS = ["none", "svi", "ssvi", "essvi", "andreasen-huge", "local", "heston", { sabr: { beta: 0.7 } }] as const;
const MARKS = ["crossed", "zero", "stale", "wing", "arbitrage", "below", "above", "repeated", "none"] as const;

type Quote = Record<string, number | string>;

/** One to three expiries of one to five quotes, of which one may be spoilt; American ones in one book of five. */
function randomBook(random: () => number, mark: (typeof MARKS)[number]): { readonly quotes: Quote[]; at: number } {
  const quotes: Quote[] = [];
  const expiries = 1 + Math.floor(3 * random());
  for (let e = 0; e < expiries; e++) {
    const strikes = 1 + Math.floor(5 * random());
    const american = random() < 0.2;
    for (let i = 0; i < strikes; i++) {
      const strike = 80 + 10 * i;
      quotes.push({
        expiry: [0.1, 0.5, 2][e],
        strike,
        implied: 0.2 + 0.1 * random(),
        type: strike < 100 ? "put" : "call",
        ...(american ? { exercise: "american" } : {}),
      });
    }
  }
  const at = Math.floor(random() * quotes.length);
  const { implied: _, ...bare } = quotes[at];
  const sign = bare.type === "put" ? -1 : 1;
  const forms: Record<(typeof MARKS)[number], Quote> = {
    crossed: { ...bare, bid: 3, ask: 2 },
    zero: { ...bare, bid: 0, ask: 2 },
    stale: { ...quotes[at], date: "2026-11-01" },
    wing: { ...quotes[at], implied: random() < 0.5 ? 0.01 : 3 },
    arbitrage: { ...quotes[at], implied: 0.9 },
    below: { ...bare, strike: sign > 0 ? 60 : 140, price: 30 },
    above: { ...bare, price: 300 },
    repeated: quotes[at],
    none: quotes[at],
  };
  quotes[at] = forms[mark];
  if (mark === "repeated") quotes.push(quotes[at]);
  return { quotes, at: mark === "repeated" ? quotes.length - 1 : at };
}

/** Each mark once, or three times. */
const BOOKS = counted("FEYNKAC_HOSTILE_QUOTES", 9, 27);

describe("hostile quotes of a book", () => {
  it.each(FITS.map((fit) => [typeof fit === "string" ? fit : "sabr", fit] as const))("%s", (_, fit) => {
    const random = uniform(77);
    for (let n = 0; n < BOOKS; n++) {
      const mark = MARKS[n % MARKS.length];
      const { quotes, at } = randomBook(random, mark);
      const dividends = random() < 0.5 ? { discrete: [{ date: 0.3, cash: 4 }] } : { yield: 0.01 };
      const underlying = { spot: 100, currency: "EUR", dividends, volatility: { quotes, fit, maxAge: 5 } };
      const read = () =>
        readHeader({ asOf: "2026-11-20", market: { rates: { EUR: 0.02 }, underlyings: { A: underlying } } });
      if (mark === "crossed" || mark === "repeated") {
        expect(read).toThrow(BookError);
        expect(read).toThrow(`market.underlyings.A.volatility.quotes[${at}]`);
        continue;
      }
      const {
        status,
        warnings,
        quotes: rows,
        rmse,
        volatility,
        butterfly,
        calendar,
      } = read().market.calibration.underlyings.A;
      if (["zero", "stale", "below", "above"].includes(mark))
        expect(warnings).toContainEqual(expect.stringContaining(`quotes[${at}]: `));
      for (const { fitted, implied } of rows) {
        if (fitted !== null) expect(fitted).toBeGreaterThan(0);
        if (implied !== null) expect(implied).toBeGreaterThanOrEqual(0);
      }
      if (fit === "none") continue;
      expect(["converged", "not converged", "infeasible"]).toContain(status);
      if (status === "infeasible") expect(volatility).toBeNull();
      else {
        expect(Number.isFinite(rmse)).toBe(true);
        for (const check of [butterfly!, calendar!]) expect(check.free).toBe(check.min === null || check.min >= -1e-12);
        const written = volatility!;
        if ("surface" in written)
          for (const sigma of written.surface.volatility.flat()) expect(sigma > 0 && sigma < Infinity).toBe(true);
      }
    }
  });
});
