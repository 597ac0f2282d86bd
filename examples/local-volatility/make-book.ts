/**
 * Writes `book.json`: options on an index whose local volatility is a surface in time and spot.
 *
 *   npx tsx examples/local-volatility/make-book.ts
 *
 * The surface comes from a smile by Dupire's formula, so that European options must give the smile back: `picture.ts` looks. The smile
 * is made up, of the shape that an index has (`smile.ts`).
 */
import { writeFileSync } from "node:fs";

import { localVolatility, RATE, SPOT, YIELD } from "./smile.ts";

const TIMES = [0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6, 0.8, 1, 1.25, 1.5, 1.75, 2];
/** In parts of the spot: closer where options are. */
const LEVELS = [
  0.4, 0.5, 0.6, 0.65, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.09, 1.12, 1.16, 1.2,
  1.25, 1.3, 1.4, 1.6, 2,
];
const EXPIRIES = [0.25, 0.5, 1, 2];
const STRIKES = [0.7, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2, 1.3];

const spots = LEVELS.map((level) => Math.round(level * SPOT));
const volatility = TIMES.map((t) => spots.map((spot) => Number(localVolatility(spot, t).toFixed(5))));

type Trade = Record<string, unknown>;
const trades: Trade[] = EXPIRIES.flatMap((expiry) =>
  STRIKES.flatMap((level) => {
    const strike = Math.round(level * SPOT);
    const payoff = level < 1 ? "put" : "call";
    const common = { underlying: "INDEX", payoff, strike, expiry };
    return ["european", "american"].map((exercise) => ({
      id: `${payoff}-${strike}-${expiry}-${exercise === "american" ? "A" : "E"}`,
      ...common,
      exercise,
    }));
  }),
);

/** One row or trade a line: readable in a diff. */
const lines = (items: readonly unknown[], indent: string): string =>
  items.map((item) => `${indent}${JSON.stringify(item)}`).join(",\n");
const text = `{
  "asOf": "2026-11-20T16:00:00Z",
  "market": {
    "rates": { "EUR": ${RATE} },
    "underlyings": {
      "INDEX": {
        "spot": ${SPOT},
        "currency": "EUR",
        "dividends": { "yield": ${YIELD} },
        "volatility": {
          "surface": {
            "times": ${JSON.stringify(TIMES)},
            "spots": ${JSON.stringify(spots)},
            "volatility": [
${lines(volatility, "              ")}
            ]
          }
        }
      }
    }
  },
  "trades": [
${lines(trades, "    ")}
  ]
}
`;
writeFileSync(new URL("book.json", import.meta.url), text);
console.log(`${trades.length} trades`);
