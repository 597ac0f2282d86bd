/** The order in which things that need each other can be found. */

/**
 * Returns groups of numbers such that each group needs only itself and earlier groups, by Tarjan's algorithm (1972) for
 * strongly connected components. `needs` has the numbers that each number needs; those that are not in it are ignored.
 */
export function inOrderOfNeed(needs: readonly (readonly number[])[]): number[][] {
  const groups: number[][] = [];
  const seen = new Map<number, number>();
  const stack: number[] = [];
  const done = new Set<number>();
  const visit = (at: number): number => {
    const own = seen.size;
    seen.set(at, own);
    stack.push(at);
    let lowest = own;
    for (const next of needs[at]) {
      if (needs[next] === undefined || done.has(next)) continue;
      lowest = Math.min(lowest, seen.get(next) ?? visit(next));
    }
    if (lowest === own) {
      const group = stack.splice(stack.indexOf(at));
      for (const one of group) done.add(one);
      groups.push(group.sort((a, b) => a - b));
    }
    return lowest;
  };
  needs.forEach((_, at) => {
    if (!seen.has(at)) visit(at);
  });
  return groups;
}
