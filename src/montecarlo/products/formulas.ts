/** Payoffs that several products share. */

/** A call or a put. */
export type OptionType = "call" | "put";

/** Returns 1 for a call, −1 for a put. */
export const signOf = (payoff: OptionType): number => (payoff === "call" ? 1 : -1);
