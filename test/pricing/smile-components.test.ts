/** The move of a smile as level, slope and curvature. */
import { expect, test } from "vitest";
import { smileComponents } from "../../src/pricing/explain/smile-components.ts";

const quotesAt = (strikes: readonly number[], time = 1) =>
  strikes.map((strike) => ({ expiry: time, time, strike, forward: 100, weight: 1 })) as never;
const k = (strike: number): number => Math.log(strike / 100);

test("moves of a parabola are its coefficients, as many as there are strikes", () => {
  const coefficients = [0.01, -0.03, 0.2];
  for (const strikes of [[90], [90, 110], [90, 100, 110], [80, 90, 100, 110, 125]]) {
    const count = Math.min(strikes.length, 3);
    const parts = coefficients.slice(0, count);
    const moves = strikes.map((strike) => parts.reduce((sum, c, n) => sum + c * k(strike) ** n, 0));
    const found = smileComponents(quotesAt(strikes), moves);
    expect(found.map(({ part }) => part)).toEqual(["level", "slope", "curvature"].slice(0, count));
    found.forEach(({ move }, n) => expect(move).toBeCloseTo(parts[n], 9));
    strikes.forEach((_, i) => expect(found.reduce((sum, one) => sum + one.moves[i], 0)).toBeCloseTo(moves[i], 10));
  }
});

test("strikes that come twice count as one", () => {
  const found = smileComponents(quotesAt([90, 90, 110]), [0.01, 0.03, 0.05]);
  expect(found.map(({ part }) => part)).toEqual(["level", "slope"]);
  for (const { moves, move } of found) for (const one of [move, ...moves]) expect(Number.isFinite(one)).toBe(true);
});
