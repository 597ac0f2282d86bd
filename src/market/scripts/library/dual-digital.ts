import type { ScriptInput } from "../input.ts";

/**
 * The script of a digital on several underlyings: each observation pays its share of the notional if every underlying
 * is beyond its level, or at it.
 *
 * Data: notional, observations, count (their number), levels and sides (one for each underlying; 1 for above, -1 for
 * below).
 */
export const dualDigital: ScriptInput = {
  events: [{ on: "observations", do: "if (min(sides * (S - levels)) >= 0) pay(notional / count)" }],
};
