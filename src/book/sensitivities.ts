/**
 * The names of the sensitivities that every trade has in its result. Those of a trade on several underlyings are to a
 * common move of all.
 */
export const SENSITIVITIES = ["delta", "gamma", "theta", "vega", "rho"] as const;
/** The name of a sensitivity. */
export type SensitivityName = (typeof SENSITIVITIES)[number];
