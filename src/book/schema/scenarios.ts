/** The schema of named scenarios, each of which moves several factors of a market together. */
import { choose, list, mapOf, name, numberWhere, object, positive, time, type Output } from "./values.ts";

const relative = numberWhere("a relative move above −1 (−0.1 is −10 %)", { exclusiveMinimum: -1 });
const absolute = numberWhere("an absolute move between −100 and 100 (0.01 is 1 %)", { minimum: -100, maximum: 100 });

/** The schema of a move of a spot: a relative one, a new spot, or an amount in the currency. */
const spotMove = choose('a relative move (−0.1 is −10 %), { "to": 95 } or { "by": -5 }', {
  number: relative,
  marked: {
    to: object({ to: positive }),
    by: object({ by: numberWhere("a finite number", {}) }),
  },
});

const absoluteMoves = mapOf(absolute, "absolute moves by name");

const movesByMaturity = mapOf(
  choose('a move (0.01 is 1 %), or one for each of some maturities, { "1Y": 0.01, "5Y": 0.005 }', {
    number: absolute,
    object: mapOf(absolute, "absolute moves by maturity"),
  }),
  "absolute moves by name",
);

const moves = object({
  spot: mapOf(spotMove, "moves of spots by underlying").optional(),
  volatility: movesByMaturity.optional(),
  skew: absoluteMoves.optional(),
  rate: movesByMaturity.optional(),
  dividend: absoluteMoves.optional(),
  fx: mapOf(spotMove, "moves of exchange rates by currency pair").optional(),
  credit: absoluteMoves.optional(),
  rateVolatility: absoluteMoves.optional(),
  time: time.optional(),
});

/** The schema that validates the named scenarios of a book. */
export const namedScenariosSchema = list(
  object({
    name,
    moves,
    weight: numberWhere("a weight ≥ 0", { minimum: 0 }).optional(),
  }),
  "a list of named scenarios, at least one",
  1,
);

/** The named scenarios of a book after validation by their schema. */
export type NamedScenariosSpec = Output<typeof namedScenariosSchema>;
