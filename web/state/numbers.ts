/** Numbers as the page shows them: rounded to their errors, with a true minus, their points under each other. */
import { decimalsFor, formatFixed } from "../../src/output/formats/index.ts";

/** A value whose error does not count has so many digits, and so many decimals where its first three are among them. */
const DIGITS = 6;
const DECIMALS = 4;

/** The decimals of a value whose error estimate has its first digit last: 4 of 7.37890 ± 0.00076. */
export function decimalsWithin(value: number, error: number | null): number {
  const most = Math.min(decimalsFor([value], DIGITS), Math.max(decimalsFor([value], 3), DECIMALS));
  if (error === null || !(error > 0)) return most;
  return Math.min(Math.max(-Math.floor(Math.log10(error)), 0), most);
}

export function fixed(value: number | null, decimals: number): string {
  return value === null || Number.isNaN(value) ? "–" : formatFixed(value, decimals).replace("-", "−");
}

/** A small number with its exponent: 4.51e−4. */
export function exponential(value: number): string {
  return Number.isNaN(value) ? "–" : value.toExponential(2).replaceAll("-", "−");
}

/** A number with so many significant digits, as a column of its own. */
export function significant(value: number | null, digits = 5): string {
  return fixed(value, decimalsFor([value], digits));
}

/** "± 0.0008": the error, rounded up in its first digit; nothing where it is below the value's last digit. */
export function plusMinus(value: number, error: number | null): string {
  if (error === null || !(error > 0) || Number.isNaN(value)) return "";
  const decimals = decimalsWithin(value, error);
  const unit = 10 ** -decimals;
  return error < 0.05 * unit ? "" : `± ${formatFixed(Math.ceil(error / unit - 1e-9) * unit, decimals)}`;
}

/** An amount of six digits or more in thousands or millions: −732.8k. */
export function compact(value: number): string {
  if (!(Math.abs(value) >= 1e5)) return significant(value, 4);
  const text = value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 4 });
  return text.replace("-", "−").replace("K", "k");
}

/** Spaces as wide as the decimals that a number of a column lacks. */
export function padded(text: string, decimals: number, most: number): string {
  if (text === "–" || decimals >= most) return text;
  return text + (decimals === 0 ? "\u2008" : "") + "\u2007".repeat(most - decimals);
}
