/**
 * Texts and numbers by name, such as a desk or a ticker. The result of a trade repeats them, and no price depends on
 * them.
 * @stable
 */
export type Tags = Readonly<Record<string, string | number>>;

/** Returns the names of all tags in a list of trades that are not read yet. */
export function tagsOf(trades: readonly unknown[]): string[] {
  const names = new Set<string>();
  for (const trade of trades) {
    const { tags } = Object(trade) as { readonly tags?: unknown };
    for (const name of Object.keys(Object(tags) as object)) names.add(name);
  }
  return [...names];
}
