/** Books of Asians, baskets and swings, of any size: every run has the same trades. */
import { createWriteStream } from "node:fs";
import { once } from "node:events";

const SPOTS = ["E1", "E2", "E3", "E4", "E5", "E6", "E7", "E8"] as const;

/** The market of `pathTrade`, and the date. */
export const pathHeader = {
  asOf: "2026-11-20T16:00:00Z",
  market: {
    rates: { EUR: 0.03 },
    underlyings: {
      ...Object.fromEntries(
        SPOTS.map((name, i) => [
          name,
          { spot: 80 + 5 * i, currency: "EUR", dividends: { yield: 0.005 * (i % 4) }, volatility: 0.15 + 0.03 * i },
        ]),
      ),
      OIL: { spot: 70, currency: "EUR", volatility: 0.3 },
      GAS: { spot: 20, currency: "EUR", dividends: { yield: 0.03 }, volatility: factors([4], [0.7], 0) },
      POWER: {
        spot: 40,
        currency: "EUR",
        dividends: { yield: 0.03 },
        volatility: factors([0.21, 5.4], [0.36, 1.1], -0.1),
      },
    },
    correlations: SPOTS.flatMap((one, i) => SPOTS.slice(i + 1).map((other) => [one, other, 0.4])),
  },
};

function factors(alpha: readonly number[], sigma: readonly number[], rho: number): object {
  return { gaussianFactors: { alpha, sigma, rho } };
}

/** Every so many trades one is wrong. */
export const WRONG = 50;

/**
 * Trade i, counted from 0. A third each are Asians on 4 or 12 dates, some of them past; baskets of four or five
 * underlyings, one in four on the worst; and swings on 12 monthly dates, of which the first is in one of the next six
 * months. Trades i = 49, 99 … have errors.
 */
export function pathTrade(i: number): object {
  const n = Math.floor(i / 3);
  const right = n % 2 === 0 ? "call" : "put";
  const isWrong = i % WRONG === WRONG - 1;
  if (i % 3 === 0) {
    const k = n % SPOTS.length;
    const [count, first] = [n % 3 === 0 ? 4 : 12, (1 + (n % 30)) / 365];
    const dates = Array.from({ length: count }, (_, d) => first + d / count);
    const spot = 80 + 5 * k;
    return {
      id: `asian-${i}`,
      underlying: isWrong ? "nobody" : SPOTS[k],
      payoff: right,
      strike: (spot * (80 + (n % 41))) / 100,
      expiry: dates[count - 1],
      average: { kind: "arithmetic", dates, ...(n % 5 === 0 ? { past: { count: 3, mean: spot } } : {}) },
    };
  }
  if (i % 3 === 1) {
    const count = 4 + (n % 2);
    const underlyings = Array.from({ length: count }, (_, k) => SPOTS[(n + k) % SPOTS.length]);
    const weights = underlyings.map(() => 1 / count);
    return {
      id: `basket-${i}`,
      underlyings,
      payoff: n % 4 === 3 ? { worstOf: right } : { basket: right, weights: isWrong ? [1] : weights },
      strike: 80 + (n % 31),
      expiry: (90 + ((7 * n) % 640)) / 365,
    };
  }
  const [name, spot] = (
    [
      ["OIL", 70],
      ["GAS", 20],
      ["POWER", 40],
    ] as const
  )[n % 3];
  const first = (12 + 30 * (Math.floor(n / 3) % 6)) / 365;
  const dates = Array.from({ length: 12 }, (_, d) => first + d / 12);
  const min = n % 4;
  return {
    id: `swing-${i}`,
    underlying: name,
    payoff: right,
    strike: (spot * (90 + (n % 21))) / 100,
    expiry: dates[11],
    swing: { dates, min, max: isWrong ? min - 1 : min + 3 + (n % 5) },
  };
}

/** Writes a book as NDJSON in little memory. */
export async function writePathBook(path: string, count: number): Promise<void> {
  const file = createWriteStream(path);
  file.write(`${JSON.stringify(pathHeader)}\n`);
  for (let i = 0; i < count; i++) if (!file.write(`${JSON.stringify(pathTrade(i))}\n`)) await once(file, "drain");
  file.end();
  await once(file, "finish");
}
