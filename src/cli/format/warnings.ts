/** What priced trades warn of, as text. */
import type { TradeResult } from "../../book/index.ts";
import { escapeControls } from "./columns.ts";
import { withCommas } from "./numbers.ts";

/** The maximum number of different warnings that are kept. */
const MAX_WARNINGS = 20;

/** The different warnings of priced trades, each with the number of trades that it concerns and the first of them. */
export class Warnings {
  readonly #seen = new Map<string, { count: number; readonly first: string }>();

  add({ status, id, warnings }: TradeResult): void {
    if (status !== "ok") return;
    for (const text of warnings) {
      const known = this.#seen.get(text);
      if (known !== undefined) known.count++;
      else if (this.#seen.size < MAX_WARNINGS) this.#seen.set(text, { count: 1, first: id });
    }
  }

  block(): string {
    const shown = [...this.#seen].map(([text, { count, first }]) => {
      const others = count > 1 ? ` and ${withCommas(count - 1)} more` : "";
      return `  ${escapeControls(`${first}${others}: ${text}`)}\n`;
    });
    return shown.length === 0 ? "" : `warnings:\n${shown.join("")}`;
  }
}
