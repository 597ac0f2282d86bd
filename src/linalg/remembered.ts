/** Keeps one kernel per variant, few in all, so that devices find it by its identity. `variant` is plain data. */
export function remembered<V extends object, K>(make: (variant: V) => K): (variant: V) => K {
  const made = new Map<string, K>();
  return (variant) => {
    const key = Object.entries(variant)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => `${name}=${String(value)}`)
      .join(" ");
    const known = made.get(key) ?? make(variant);
    made.set(key, known);
    return known;
  };
}
