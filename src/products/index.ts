/** Payoffs and exercise. */
export {
  digitalPayoff,
  type ExerciseSide,
  functionPayoff,
  lessCash,
  type PayoffProfile,
  type Right,
  vanillaPayoff,
} from "./payoff.ts";
