/** The schema of smiles of currency options by their deltas. */
import { fitSchema } from "./quotes.ts";
import { list, numberWhere, object, positiveVolatility, time, trueOrFalse, word, type Output } from "./values.ts";

const delta = numberWhere("a volatility difference from −1 to 1", { minimum: -1, maximum: 1 });

/** The schema of a smile by deltas: at the money, risk reversals (call less put) and strangles, by expiry. */
export const byDeltas = object({
  deltas: list(
    object({
      expiry: time,
      atm: positiveVolatility,
      rr25: delta.optional(),
      bf25: delta.optional(),
      rr10: delta.optional(),
      bf10: delta.optional(),
    }),
    'a list of { "expiry", "atm", "rr25", "bf25", "rr10", "bf10" }, at least one',
    1,
  ),
  convention: object({
    delta: word(["spot", "forward", "premium-adjusted-spot", "premium-adjusted-forward"]).optional(),
    atm: word(["forward", "delta-neutral-straddle"]).optional(),
    strangle: word(["smile", "market"]).optional(),
  }).optional(),
  fit: fitSchema.optional(),
  repair: trueOrFalse.optional(),
}).transform((of) => ({ kind: "deltas" as const, ...of }));

/** A smile by deltas after validation. */
export type DeltasSpec = Output<typeof byDeltas>;
