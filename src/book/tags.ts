/**
 * Texts and numbers by name, such as a desk or a ticker. The result of a trade repeats them, and no price depends on
 * them.
 * @stable
 */
export type Tags = Readonly<Record<string, string | number>>;
