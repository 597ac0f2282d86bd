/** A market of four currencies with nine curves from 160 quotes, and books of swaps on it. */

const YEARS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20, 25, 30];
const LONG = YEARS.map((years) => `${years}Y`);

/** Quotes of tenors that rise with their length. */
const rising = (tenors: readonly string[], kind: string, from: number, step: number, field = "rate") =>
  tenors.map((tenor, k) => ({ [kind]: tenor, [field]: from + step * k + 0.0003 * Math.sin(k) }));

const overnight = (index: string, from: number, step: number) => ({
  index,
  instruments: rising(["1W", "1M", "3M", "6M", "9M", ...LONG], "ois", from, step),
});

const implied = (pair: string, currency: string, index: string, discount: string, points: number, swaps: number) => ({
  index,
  pair,
  currency,
  discount,
  instruments: [
    ...["1M", "3M", "6M", "9M"].map((fxSwap, k) => ({ fxSwap, points: points * (1 + 2 * k) })),
    ...rising(LONG.slice(0, swaps), "crossCurrency", -0.0005, -0.00003, "spread"),
  ],
});

/** The day of the market. */
export const AS_OF = "2026-11-20";

/** The curves, in the form of a book. */
export const curves = {
  "EUR-ESTR": overnight("ESTR", 0.019, 0.0004),
  "EUR-6M": {
    index: "EURIBOR-6M",
    instruments: [
      { deposit: "6M", rate: 0.0205 },
      ...rising(["1M", "2M", "3M", "4M"], "fra", 0.0207, 0.0002),
      ...rising(LONG, "swap", 0.0215, 0.0004),
    ],
  },
  "EUR-3M": {
    index: "EURIBOR-3M",
    instruments: [
      { deposit: "3M", rate: 0.0201 },
      { fra: "3M", rate: 0.0203 },
      ...rising(LONG.slice(0, 14), "basis", 0.0004, 0.00002, "spread").map((one) => ({
        ...one,
        against: "EURIBOR-6M",
      })),
    ],
  },
  "USD-SOFR": overnight("SOFR", 0.039, -0.0002),
  "GBP-SONIA": overnight("SONIA", 0.038, 0.0003),
  "JPY-TONA": overnight("TONA", 0.006, 0.0007),
  "EUR-USD": implied("EURUSD", "EUR", "ESTR", "USD-SOFR", 0.0016, 12),
  "GBP-USD": implied("GBPUSD", "GBP", "SONIA", "USD-SOFR", 0.0001, 10),
  "JPY-USD": implied("USDJPY", "JPY", "TONA", "USD-SOFR", -0.4, 10),
};

/** The market, in the form of a book. */
export const market = {
  curves,
  rates: {
    EUR: { discount: "EUR-ESTR", forward: { "EURIBOR-6M": "EUR-6M", "EURIBOR-3M": "EUR-3M" } },
    USD: { discount: "USD-SOFR" },
    GBP: { discount: "GBP-SONIA" },
    JPY: { discount: "JPY-TONA" },
  },
  fx: { EURUSD: 1.1587, GBPUSD: 1.312, USDJPY: 156.4 },
};

const INDICES = ["EURIBOR-6M", "EURIBOR-3M", "SOFR", "SONIA", "TONA", "ESTR"];

/** Swaps against six indices that end after 1 to 30 years, begin on any of 60 days, and have sensitivities by quote. */
export function swaps(count: number): object[] {
  return Array.from({ length: count }, (_, k) => {
    const day = new Date(Date.parse("2026-11-25") + 864e5 * ((7 * k) % 60)).toISOString().slice(0, 10);
    const fixed = { rate: 0.015 + 0.0001 * (k % 251) };
    const floating = { index: INDICES[k % INDICES.length] };
    const sides = k % 2 === 0 ? { pay: fixed, receive: floating } : { pay: floating, receive: fixed };
    return {
      id: `S${k}`,
      swap: { start: day, end: `${1 + ((11 * k) % 30)}Y`, notional: 1e6 * (1 + (k % 9)), ...sides },
      report: ["quotes"],
    };
  });
}
