import { Turns } from "../../base/event-loop.ts";
import type { ResultColumns } from "../columns/result-columns.ts";

/**
 * Calls `read` for one trade after another. An error that it throws becomes the result of its trade. @throws the
 * signal's reason
 */
export async function readEach(
  trades: readonly number[],
  results: ResultColumns,
  signal: AbortSignal | undefined,
  read: (trade: number, results: ResultColumns) => void,
): Promise<void> {
  const turns = new Turns(signal);
  for (const trade of trades) {
    if (turns.due) await turns.take();
    try {
      read(trade, results);
    } catch (error) {
      results.fail(trade, error);
    }
  }
}
