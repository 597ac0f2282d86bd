/** The check of a volatility formula on the nodes and times of a grid. */
import { onColumn } from "../../../kernel/index.ts";
import type { Diffusion } from "../problem/diffusion.ts";
import { checkedVolatility } from "../problem/volatility-check.ts";
import type { TimeGrid } from "../time/time-grid.ts";
import { type Mesh, nodesOf } from "./mesh.ts";

/** Prices and times between which every value of a σ(S, t) that was looked at was in order. */
interface Checked {
  readonly prices: readonly [number, number];
  readonly times: readonly [number, number];
}

/**
 * The checks of a formula that are known, which trades share: a mesh inside of one that was checked is not checked
 * again. A pure function's memory.
 */
const known = new WeakMap<Extract<Diffusion, { kind: "formula" }>["sigma"], Checked>();

/**
 * Checks a volatility formula σ(S, t) at every positive node in the middle of every time step, where a kernel evaluates
 * it. Other kinds of volatility are checked where the host evaluates them. Cost: some 10 ns for each node and step,
 * nothing if the formula has been checked on a wider mesh. @throws VolatilityError
 */
export function checkFormula(diffusion: Diffusion, mesh: Mesh, { dates, factored }: TimeGrid): void {
  if (diffusion.kind !== "formula") return;
  const nodes = nodesOf(mesh);
  const { sigma, start = 0 } = diffusion;
  const ends = [nodes[0], nodes[nodes.length - 1]] as const;
  const here: Checked = {
    prices: [Math.min(...ends), Math.max(...ends)],
    times: [start, start + dates[dates.length - 1]],
  };
  const before = known.get(sigma);
  if (before !== undefined && contains(before.prices, here.prices) && contains(before.times, here.times)) return;
  const times: number[] = [];
  for (let i = 0; i < factored.length; i += 3) times.push(start + 0.5 * (factored[i + 1] + factored[i + 2]));
  onColumn(sigma, nodes, times, (values, time) => {
    for (let i = 0; i < nodes.length; i++) if (nodes[i] > 0) checkedVolatility(values[i], nodes[i], time);
  });
  known.set(sigma, here);
}

const contains = (outer: readonly [number, number], inner: readonly [number, number]): boolean =>
  outer[0] <= inner[0] && inner[1] <= outer[1];
