/** The move of a fitted smile by expiry, as level, slope and curvature. */
import type { QuotedSmile } from "../../book/index.ts";

/** The parts into which the move of one expiry's volatilities is split. */
export const SMILE_PARTS = ["level", "slope", "curvature"] as const;
/** The name of a part of a smile's move. */
export type SmilePart = (typeof SMILE_PARTS)[number];

/** A part of the move of a smile at one expiry. */
export interface SmileComponent {
  /** The expiry as the book writes it. */
  readonly expiry: number | string;
  /** The expiry in years. */
  readonly time: number;
  readonly part: SmilePart;
  /** The part's coefficient c in the move Σ c·kⁿ of the volatilities, with k = ln(K/F) and n = 0, 1, 2. */
  readonly move: number;
  /** The part's move of each quote's volatility, in the order of the quotes; 0 at other expiries. */
  readonly moves: readonly number[];
}

/**
 * Splits the moves of the quotes' volatilities. At each expiry the parabola c₀ + c₁·k + c₂·k² in k = ln(K/F) is fitted
 * to them by weighted least squares. The level c₀ is the move at the forward. Two strikes have no curvature, and one
 * has no slope.
 */
export function smileComponents(quotes: QuotedSmile["quotes"], moves: readonly number[]): SmileComponent[] {
  const times = [...new Set(quotes.map(({ time }) => time))].sort((a, b) => a - b);
  return times.flatMap((time) => {
    const own = quotes.flatMap((quote, i) => (quote.time === time && quote.weight > 0 ? [i] : []));
    if (own.length === 0) return [];
    const k = own.map((i) => Math.log(quotes[i].strike / quotes[i].forward));
    const parabola = fittedParabola(
      k,
      own.map((i) => moves[i]),
      own.map((i) => quotes[i].weight),
    );
    return parabola.map((move, n): SmileComponent => {
      const moved = quotes.map((quote) =>
        quote.time === time ? move * Math.log(quote.strike / quote.forward) ** n : 0,
      );
      return { expiry: quotes[own[0]].expiry, time, part: SMILE_PARTS[n], move, moves: moved };
    });
  });
}

/**
 * The coefficients of the parabola through points (x, y), by least squares with weights: modified Gram–Schmidt on the
 * columns √w·xⁿ, of which there are no more than different x.
 */
function fittedParabola(x: readonly number[], y: readonly number[], weights: readonly number[]): number[] {
  const count = Math.min(SMILE_PARTS.length, new Set(x).size);
  const roots = weights.map(Math.sqrt);
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, one, i) => sum + one * b[i], 0);
  const minus = (a: readonly number[], c: number, b: readonly number[]): number[] => a.map((one, i) => one - c * b[i]);
  const columns = Array.from({ length: count }, (_, n) => x.map((one, i) => roots[i] * one ** n));
  const triangle: number[][] = columns.map(() => []);
  const projected: number[] = [];
  let rest = y.map((one, i) => roots[i] * one);
  for (let n = 0; n < count; n++) {
    const norm = Math.sqrt(dot(columns[n], columns[n]));
    const unit = columns[n].map((one) => one / norm);
    triangle[n][n] = norm;
    for (let m = n + 1; m < count; m++) {
      triangle[n][m] = dot(unit, columns[m]);
      columns[m] = minus(columns[m], triangle[n][m], unit);
    }
    projected[n] = dot(unit, rest);
    rest = minus(rest, projected[n], unit);
  }
  const found: number[] = [];
  for (let n = count - 1; n >= 0; n--) {
    let sum = projected[n];
    for (let m = n + 1; m < count; m++) sum -= triangle[n][m] * found[m];
    found[n] = sum / triangle[n][n];
  }
  return found;
}
