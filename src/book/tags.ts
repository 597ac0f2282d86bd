/** Texts and numbers by name, such as a desk or a ticker, that results carry and no price depends on. */
export type Tags = Readonly<Record<string, string | number>>;

/** Returns the names of the tags of trades as written. */
export function tagsOf(trades: readonly unknown[]): string[] {
  const names = new Set<string>();
  for (const trade of trades) {
    const { tags } = Object(trade) as { readonly tags?: unknown };
    for (const name of Object.keys(Object(tags) as object)) names.add(name);
  }
  return [...names];
}
