import { withCommas } from "./format/numbers.ts";
import type { Sink } from "./terminal.ts";

/**
 * The time in milliseconds before progress is first shown, so that short runs show none. Afterwards, it is updated at
 * most ten times per second.
 */
const QUIET = 300;
const INTERVAL = 100;
const BAR = 30;

/** The progress of pricing a book. */
export interface ProgressState {
  /** The number of trades that are done. */
  readonly done: number;
  /** The fraction of the work that is done, 0 … 1; undefined if it is unknown. */
  readonly fraction: number | undefined;
}

/** A progress bar with the remaining time, on one line that is overwritten. It is shown on terminals only. */
export class ProgressBar {
  readonly #sink: Sink;
  readonly #now: () => number;
  readonly #start: number;
  #last = 0;
  #shown = false;

  constructor(sink: Sink, now: () => number = () => performance.now()) {
    this.#sink = sink;
    this.#now = now;
    this.#start = now();
  }

  update(advance: ProgressState): void {
    const elapsed = this.#now() - this.#start;
    if (this.#sink.isTTY !== true || elapsed < QUIET || elapsed - this.#last < INTERVAL) return;
    this.#last = elapsed;
    this.#shown = true;
    const line = formatProgress(advance, elapsed / 1000);
    // Some terminals say that they have 0 columns.
    this.#sink.write(`\r\u001b[K${line.slice(0, (this.#sink.columns || 80) - 1)}`);
  }

  /** Removes the bar. It must be called before anything else is written to the terminal, and at the end. */
  clear(): void {
    if (this.#shown) this.#sink.write("\r\u001b[K");
    this.#shown = false;
  }
}

/** Formats the line of a progress bar. `seconds` is the time since the start. */
export function formatProgress({ done, fraction }: ProgressState, seconds: number): string {
  const rate = done / seconds;
  const count = `${withCommas(done)} trades, ${withCommas(Math.round(rate))}/s`;
  if (fraction === undefined || fraction <= 0) return count;
  const part = Math.min(fraction, 1);
  const filled = Math.round(BAR * part);
  const left = formatDuration(seconds * (1 / part - 1));
  return `[${"=".repeat(filled)}${" ".repeat(BAR - filled)}] ${Math.floor(100 * part)} %, ${count}, ${left} left`;
}

/** Formats a duration in seconds: 0:42, 12:05, 3:00:00. */
export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] > 0 ? parts : parts.slice(1);
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
}
