/** Payoffs that several products share. */
import { checkFields, checkOneOf } from "../../base/argument-checks.ts";

/** A call or a put. @experimental */
export type OptionType = "call" | "put";

/** Returns 1 for a call, −1 for a put. */
export const signOf = (payoff: OptionType): number => (payoff === "call" ? 1 : -1);

/**
 * Checks the settings of an option: that they have no fields but `payoff` and `others`, and that the payoff is a call
 * or a put. `who` is the name of the function that takes them. @throws SpecError
 */
export function checkOption(who: string, settings: { readonly payoff: OptionType }, others: readonly string[]): void {
  checkFields(who, settings, ["payoff", ...others]);
  checkOneOf(`${who}: payoff`, settings.payoff, ["call", "put"]);
}
