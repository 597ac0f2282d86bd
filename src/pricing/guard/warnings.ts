/** Warnings that the results of all kinds of trades share. */

/** Said by every result whose error estimate is above what was asked for; other warnings may say why. */
export const ACCURACY_MISSED = "the accuracy that was asked for is not reached: errorEstimate is larger";
export const OUT_OF_TIME = "the time of a trade was over before the accuracy was reached: see errorEstimate";
export const SCENARIO_OUTSIDE =
  "values of scenarios that no such payoff can have are left out (null): ask for another accuracy or method";
