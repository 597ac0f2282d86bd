import type { Totals } from "../book/index.ts";
import type { Engine } from "./engine.ts";
import { grouped } from "./format/numbers.ts";

/** Returns the last line of a command's output: how many trades were priced, how fast, and on which device. */
export function summary(
  { priced, failed }: Pick<Totals, "priced" | "failed">,
  { device, precision, reason }: Engine,
  seconds: number,
): string {
  const count = (n: number): string => `${grouped(n)} ${n === 1 ? "trade" : "trades"}`;
  const rate = priced > 0 ? ` (${grouped(Math.round(priced / seconds))} a second)` : "";
  const failures = failed > 0 ? `, ${count(failed)} not priced` : "";
  return `${count(priced)} priced in ${seconds.toFixed(2)} s${rate}${failures}; ${device.name}, ${precision}${reason === undefined ? "" : ` (${reason})`}\n`;
}
