import { SpecError } from "../../errors.ts";
import { onColumn } from "../../kernel/index.ts";
import { type Mesh, nodesOf } from "../mesh/mesh.ts";
import type { Diffusion } from "./one-factor.ts";
import type { TimeGrid } from "../time/time-grid.ts";

/**
 * A volatility that is negative, infinite or not a number at a price and a time where the equation needs it.
 *
 * @example
 * import { VolatilityError } from "feynkac/fdm";
 *
 * const { spot, time, code } = new VolatilityError(-0.1, 80, 0.5);
 * console.log(spot, time, code); // 80 0.5 SPEC
 */
export class VolatilityError extends SpecError {
  readonly volatility: number;
  readonly spot: number;
  readonly time: number;

  constructor(volatility: number, spot: number, time: number) {
    super(
      `volatility ${volatility} at S = ${spot}, t = ${time}; expected a finite number, 0 or above, ` +
        "at every price and time that the mesh reaches",
    );
    this.volatility = volatility;
    this.spot = spot;
    this.time = time;
  }
}

/**
 * Checks σ as a formula gives it, before a scenario's shift: the shift may take it below zero, and it is zero there.
 * @throws VolatilityError
 */
export function checkedVolatility(sigma: number, spot: number, time: number): number {
  if (sigma >= 0 && sigma < Number.POSITIVE_INFINITY) return sigma;
  throw new VolatilityError(sigma, spot, time);
}

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
 * Checks σ(S, t) at every node above zero in the middle of every step, as a kernel evaluates it; any other σ is checked
 * where the host evaluates it. Cost: some 10 ns for each node and step, nothing where a wider mesh of the same formula
 * has been checked.
 * @throws VolatilityError
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
