/** The sensitivities of every trade, as results name them: to its underlying, or to a move of all of them. */
export const SENSITIVITIES = ["delta", "gamma", "theta", "vega", "rho"] as const;
export type SensitivityName = (typeof SENSITIVITIES)[number];
