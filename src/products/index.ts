/** Payoffs and exercise. */
export {
  digitalPayoff,
  type ExerciseSide,
  functionPayoff,
  type PayoffProfile,
  type Right,
  vanillaPayoff,
} from "./payoff.ts";
