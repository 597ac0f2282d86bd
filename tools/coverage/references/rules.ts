/** Rules of integration, and what else the references share. */

/** Nodes and weights. */
export interface Rule {
  readonly nodes: readonly number[];
  readonly weights: readonly number[];
}

const GAUSS = [
  [0.1834346424956498, 0.362683783378362],
  [0.525532409916329, 0.3137066458778873],
  [0.7966664774136267, 0.2223810344533745],
  [0.9602898564975363, 0.1012285362903763],
] as const;

/** Gauss and Legendre's rule of eight points on panels of at most `width` that end at each of the breaks. */
export function panels(from: number, to: number, width: number, breaks: readonly number[] = []): Rule {
  const ends = [from, ...breaks.filter((x) => x > from && x < to).toSorted((a, b) => a - b), to];
  const nodes: number[] = [];
  const weights: number[] = [];
  for (let piece = 1; piece < ends.length; piece++) {
    const length = ends[piece] - ends[piece - 1];
    const count = Math.ceil(length / width);
    const half = (0.5 * length) / count;
    for (let k = 0; k < count; k++) {
      const middle = ends[piece - 1] + half * (2 * k + 1);
      for (let i = 3; i >= 0; i--) add(middle - half * GAUSS[i][0], half * GAUSS[i][1]);
      for (let i = 0; i < 4; i++) add(middle + half * GAUSS[i][0], half * GAUSS[i][1]);
    }
  }
  return { nodes, weights };

  function add(node: number, weight: number): void {
    nodes.push(node);
    weights.push(weight);
  }
}

/** ∫ f from a to b. */
export function integral(f: (x: number) => number, a: number, b: number, width = (b - a) / 16): number {
  if (!(b > a)) return 0;
  const { nodes, weights } = panels(a, b, width);
  return nodes.reduce((sum, x, i) => sum + weights[i] * f(x), 0);
}

/** Where f changes its sign between points of a grid, by bisection. */
export function signChanges(f: (x: number) => number, from: number, to: number, count: number): number[] {
  const grid = Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count);
  const signs = grid.map((x) => f(x) > 0);
  return grid.slice(1).flatMap((end, i) => {
    if (signs[i] === signs[i + 1]) return [];
    let [low, high] = [grid[i], end];
    for (let k = 0; k < 45; k++) {
      const middle = 0.5 * (low + high);
      if (f(middle) > 0 === signs[i]) low = middle;
      else high = middle;
    }
    return [0.5 * (low + high)];
  });
}

/** The root of a decreasing or increasing function, by bisection. */
export function root(f: (x: number) => number, low: number, high: number): number {
  const rises = f(high) > f(low);
  for (let k = 0; k < 200; k++) {
    const middle = 0.5 * (low + high);
    if (f(middle) > 0 === rises) high = middle;
    else low = middle;
  }
  return 0.5 * (low + high);
}
