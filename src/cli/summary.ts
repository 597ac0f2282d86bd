import type { TradeCounts } from "../book/index.ts";
import type { Engine } from "./engine.ts";
import { withCommas } from "./format/numbers.ts";

/**
 * Returns the last line of a command's output: the number of priced trades, the speed, and the device. A line before it
 * says how many trades depend on doubtful fits to quotes, if any do.
 */
export function summaryLines(counts: TradeCounts, { device, precision, reason }: Engine, seconds: number): string {
  const { priced, failed } = counts;
  const rate = priced > 0 ? ` (${withCommas(Math.round(priced / seconds))} a second)` : "";
  const failures = failed > 0 ? `, ${count(failed)} not priced` : "";
  return `${fitWarningLine(counts)}${count(priced)} priced in ${seconds.toFixed(2)} s${rate}${failures}; ${device.name}, ${precision}${reason === undefined ? "" : ` (${reason})`}\n`;
}

const count = (n: number): string => `${withCommas(n)} ${n === 1 ? "trade" : "trades"}`;

/** Returns the line about trades that depend on doubtful fits to quotes; an empty text if there are none. */
export function fitWarningLine({ doubtful = 0, doubt }: Pick<TradeCounts, "doubtful" | "doubt">): string {
  if (doubt === undefined) return "";
  const depend = doubtful === 1 ? "depends" : "depend";
  return `${count(doubtful)} ${depend} on a doubtful fit, which --strict makes an error: ${doubt}\n`;
}
