/** The risk of a book by an approximation, and by how much it differs from that of full revaluation. */
import { quote } from "../../book/index.ts";
import type { MissingSensitivity } from "./approximation.ts";
import type { BookRisk, RiskCollector, ScenarioProfit } from "./book-risk.ts";
import { normalized } from "./tail.ts";

/** The error of an approximation: its number less that of full revaluation. */
export interface ApproximationError {
  /** The largest difference of the book's profit in absolute value, with its sign. */
  readonly largest: { readonly scenario: string; readonly value: number };
  /** The root mean square of the differences of the book's profit, by the weights of the scenarios. */
  readonly rootMeanSquare: number;
  readonly valueAtRisk: number;
  readonly expectedShortfall: number;
  /** The parts of trades in the root mean square, the largest in absolute value first. They sum to it. */
  readonly trades: readonly { readonly name: string; readonly rootMeanSquare: number }[];
}

/**
 * Compares two risks of the same trades in the same order. With eₜₛ the difference of the profit of trade t in a
 * scenario s and Eₛ that of the book, the part of a trade is Σ wₛ·eₜₛ·Eₛ / √(Σ wₛ·Eₛ²) (Euler). Trades whose errors
 * cancel others have parts below 0. Verified: test/cli/var.test.ts.
 */
export function approximationError(
  full: RiskCollector,
  approximation: RiskCollector,
  names: readonly string[],
  confidence: number,
): ApproximationError {
  const { profits: exact, weights } = full.distribution;
  const shares = normalized(exact.length, weights);
  const errors = approximation.distribution.profits.map((profit, s) => profit - exact[s]);
  const rootMeanSquare = Math.sqrt(errors.reduce((sum, error, s) => sum + shares[s] * error * error, 0));
  const at = errors.reduce((most, error, s) => (Math.abs(error) > Math.abs(errors[most]) ? s : most), 0);
  const own = full.profits;
  const trades = approximation.profits.map(({ id, profits }, t) => {
    const product = profits.reduce((sum, profit, s) => sum + shares[s] * (profit - own[t].profits[s]) * errors[s], 0);
    return { name: id, rootMeanSquare: rootMeanSquare === 0 ? 0 : product / rootMeanSquare };
  });
  const [one, other] = [approximation.risk(confidence), full.risk(confidence)];
  return {
    largest: { scenario: names[at], value: errors[at] },
    rootMeanSquare,
    valueAtRisk: one.valueAtRisk.value - other.valueAtRisk.value,
    expectedShortfall: one.expectedShortfall.value - other.expectedShortfall.value,
    trades: trades.sort((a, b) => Math.abs(b.rootMeanSquare) - Math.abs(a.rootMeanSquare)),
  };
}

/** A risk by an approximation, with what it leaves out. */
export interface ApproximateRisk {
  readonly missing: readonly MissingSensitivity[];
  /** The risk where that by full revaluation is known as well; else the risk is the approximation. */
  readonly beside?: ComparedRisk | undefined;
}

/** The risk by an approximation beside that of full revaluation. */
export interface ComparedRisk {
  /** Its worst scenarios have the profits of both. */
  readonly risk: Omit<BookRisk, "worst"> & { readonly worst: readonly ComparedProfit[] };
  readonly error: ApproximationError;
  /** The worst scenarios of the revaluation with the profits of both. */
  readonly worst: readonly ComparedProfit[];
}

/** A scenario with the profits of both. */
export interface ComparedProfit extends ScenarioProfit {
  readonly revaluation: number;
  readonly approximation: number;
}

/** Returns the risk by an approximation beside that of full revaluation, with so many of the worst scenarios. */
export function comparedRisk(
  full: RiskCollector,
  approximation: RiskCollector,
  names: readonly string[],
  { confidence, listed }: { readonly confidence: number; readonly listed: number },
): ComparedRisk {
  const at = new Map(names.map((name, s) => [name, s]));
  const [exact, near] = [full.distribution.profits, approximation.distribution.profits];
  const both = (one: ScenarioProfit): ComparedProfit => {
    const s = at.get(one.scenario)!;
    return { ...one, revaluation: exact[s], approximation: near[s] };
  };
  const risk = approximation.risk(confidence, listed);
  return {
    risk: { ...risk, worst: risk.worst.map(both) },
    error: approximationError(full, approximation, names, confidence),
    worst: full.risk(confidence, listed).worst.map(both),
  };
}

/** Returns a sentence about an effect that an approximation leaves out. */
export function missingText({ factor, sensitivity, trades, scenarios }: MissingSensitivity): string {
  const of = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  return (
    `${of(trades, "trade")} without ${sensitivity} (${quote(factor)}), which ${of(scenarios, "scenario")} ` +
    `${scenarios === 1 ? "moves" : "move"}: left out of the approximation`
  );
}
