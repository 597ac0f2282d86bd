/** Books for the benchmarks of runs: written in little memory, the same each time. */
import { once } from "node:events";
import { createWriteStream } from "node:fs";

const header = {
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.03 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.25 } } },
};

/** Bytes that are put together before they are written. */
const PIECE = 1 << 20;

/** Writes European options of which one in `american` is American instead; none where that is 0. */
export async function writeBook(path: string, count: number, american: number): Promise<void> {
  const file = createWriteStream(path, { highWaterMark: PIECE });
  let text = `${JSON.stringify(header)}\n`;
  for (let i = 0; i < count; i++) {
    const isAmerican = american > 0 && i % american === 0;
    const trade = {
      id: `T${i}`,
      underlying: "ACME",
      payoff: i % 2 === 0 ? "put" : "call",
      strike: 80 + (i % 401) / 10,
      expiry: (60 + (i % 700)) / 365,
      exercise: isAmerican ? "american" : "european",
    };
    text += `${JSON.stringify(trade)}\n`;
    if (text.length < PIECE) continue;
    if (!file.write(text)) await once(file, "drain");
    text = "";
  }
  file.end(text);
  await once(file, "finish");
}
