/** Shortens results for readers of text: numbers to their errors, lists to their first items. */

/** The digits of numbers that have no error estimate, and the most that any number has. */
const [USUAL_DIGITS, MAX_DIGITS] = [5, 10];

/** Rounds a number to the first digit of its error: 7.378906 with the error 0.00076 is 7.3789. */
export function rounded(value: number | null, error?: number | null): number | null {
  if (value === null || !Number.isFinite(value)) return value;
  if (error === undefined || error === null) return Number(value.toPrecision(USUAL_DIGITS));
  const digits =
    error > 0 ? Math.floor(Math.log10(Math.abs(value) || 1)) - Math.floor(Math.log10(error)) + 1 : MAX_DIGITS;
  if (digits > 0) return Number(value.toPrecision(Math.min(digits, MAX_DIGITS)));
  const unit = 10 ** Math.floor(Math.log10(error));
  return Math.round(value / unit) * unit;
}

/** Rounds an error up in its second digit. */
export function roundedError(error: number | null): number | null {
  if (error === null || !(error > 0) || !Number.isFinite(error)) return error;
  const unit = 10 ** (Math.floor(Math.log10(error)) - 1);
  return Number((Math.ceil(error / unit - 1e-9) * unit).toPrecision(2));
}

/** Returns plain data with all numbers rounded, and with lists that say how many items they leave out. */
export function shortened(value: unknown, items: number): unknown {
  if (typeof value === "number") return rounded(value);
  if (Array.isArray(value)) {
    const first = value.slice(0, items).map((item) => shortened(item, items));
    return value.length > items ? [...first, `… ${value.length - items} more`] : first;
  }
  if (ArrayBuffer.isView(value)) return shortened(Array.from(value as Float64Array), items);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, own]) => [name, shortened(own, items)]));
}

/** The first items of a list, and how many there are besides. */
export function firstOf<T>(list: readonly T[], limit: number, remedy: string): { first: readonly T[]; more?: string } {
  const rest = list.length - limit;
  return rest > 0
    ? { first: list.slice(0, limit), more: `${rest} more of ${list.length}; ${remedy}` }
    : { first: list };
}
