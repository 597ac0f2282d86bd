/** Trades with formulas: local volatilities of S and t, and a payoff with kinks. */
import type { Trade } from "../../src/book/index.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { trade } from "./reference.ts";

const american = { kind: "american" } as const;

export const formulas: readonly Trade[] = [
  trade({ exercise: american, volatility: { kind: "local", expression: "0.2 + 0.1*exp(-S/100)" } }),
  trade({
    exercise: american,
    volatility: { kind: "local", expression: "0.15 + 0.1*exp(-t)*max(0.5, min(2, S/100))" },
  }),
  trade({ volatility: { kind: "local", expression: "0.2 + 0.05*sin(3*t)" } }),
  trade({
    exercise: american,
    payoff: { kind: "expression", expression: "max(110 - S, 0) + 0.5*max(S - 120, 0)", kinks: [110, 120] },
  }),
];

/** Of values near 10, on a spot of 100, from those in f64: rounding. */
export const FORMULA_TOLERANCE: Readonly<Record<Precision, number>> = { f64: 1e-9, f32: 2e-3, f32x2: 1e-7 };
