/**
 * Writes numbers for people. All numbers of a column have the same number of decimals, so that the decimal points are
 * aligned.
 */

/** Returns the number of decimals, 0 … 8, with which the largest of the values has `digits` significant digits. */
export function decimalsFor(values: readonly (number | null)[], digits: number): number {
  const largest = values.reduce<number>((max, value) => Math.max(max, Math.abs(value ?? 0)), 0);
  if (largest === 0 || !Number.isFinite(largest)) return 2;
  return Math.min(Math.max(digits - 1 - Math.floor(Math.log10(largest)), 0), 8);
}

/**
 * Formats a number with a fixed number of decimals, as in `12,345.67`. A number that is too large for its column, or
 * not finite, is shown in its shortest correct form.
 */
export function formatFixed(value: number | null, decimals: number): string {
  if (value === null) return "–";
  if (!Number.isFinite(value) || Math.abs(value) >= 1e15) return String(value);
  const shown = value.toFixed(decimals);
  const text = Number(shown) === 0 ? shown.replace("-", "") : shown;
  return text.replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ",");
}

/** Formats an error estimate with two significant digits: `3.1e-5`. */
export function formatErrorEstimate(value: number | null): string {
  if (value === null) return "–";
  return value === 0 ? "0" : value.toExponential(1);
}
