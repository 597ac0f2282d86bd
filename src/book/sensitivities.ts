/** The sensitivities of every trade, as results name them: to its underlying, or to a common move of all. */
export const SENSITIVITIES = ["delta", "gamma", "theta", "vega", "rho"] as const;
/** The name of a sensitivity. */
export type SensitivityName = (typeof SENSITIVITIES)[number];
