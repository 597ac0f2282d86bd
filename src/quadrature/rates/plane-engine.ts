/** The recursion in two factors and the nodes that it takes. */
import { SpecError } from "../../base/errors.ts";
import { type Fineness, type Recursion, rounded } from "./engine.ts";
import { decayIntegral } from "./gaussian.ts";
import { frameOf, planeNodes, stepCovariance, stepFrom } from "./plane.ts";
import { PLANE_RECORD, planeKernel } from "./plane-recursion.ts";
import type { ShortRateTrade } from "./terms.ts";

/** A market with two Gaussian factors, r = x + y + α(t), fitted to discount factors (G2++). */
export interface PlaneMarket {
  /** The mean reversion and volatility of x, then of y, and their correlation. */
  readonly parameters: readonly [a: number, sigma: number, b: number, eta: number, rho: number];
  /** Returns ln P(0, t). */
  readonly logDiscount: (t: number) => number;
}

/** Most nodes of a date. */
const MOST_NODES = 2 ** 18;

/** The recursion in two factors. */
export const twoFactorRecursion: Recursion<PlaneMarket> = {
  kernel: planeKernel,
  record: PLANE_RECORD,
  microseconds: 0.5,
  packed: (markets) => ({ parameters: Float64Array.from(markets.flatMap(({ parameters }) => parameters)) }),
  sizesIn:
    (trades, markets, fineness) =>
    ({ trade, market }) => {
      const [rows, columns] = planeNeeded(trades[trade], markets[market], fineness).map(rounded);
      return { room: { rows, columns }, nodes: rows * columns, mostDates: rounded(trades[trade].dates.length) };
    },
};

/** Checks that a claim does not need too many nodes. @throws SpecError the dates for which it does */
export function checkOnPlane(trade: ShortRateTrade, market: PlaneMarket, fineness: Fineness): void {
  const [rows, columns] = planeNeeded(trade, market, fineness);
  if (rows * columns > MOST_NODES)
    throw new SpecError(
      `dates of exercise too close to each other for how far away they are, or rho too close to ±1: ${rows} × ` +
        `${columns} nodes, at most ${MOST_NODES}; leave some of the dates out, or write hullWhite`,
    );
}

/** The most rows and columns of nodes at any date of a trade, by the functions of the kernel. */
function planeNeeded(
  { dates, flows }: ShortRateTrade,
  { parameters }: PlaneMarket,
  { density, reach }: Fineness,
): readonly [rows: number, columns: number] {
  const [a, , b] = parameters;
  const terminal = flows[flows.length - 1][0];
  const market = { parameters: Float64Array.from(parameters), start: 0 };
  let covariance = { xx: 0, xy: 0, yy: 0 };
  const points = dates.map(({ time }, k) => {
    const years = time - (k === 0 ? 0 : dates[k - 1].time);
    const [dx, dy] = [Math.exp(-a * years), Math.exp(-b * years)];
    const step = stepCovariance({ market, years });
    const { xx, xy, yy } = covariance;
    covariance = { xx: dx * dx * xx + step.xx, xy: dx * dy * xy + step.xy, yy: dy * dy * yy + step.yy };
    const [wx, wy] = [decayIntegral(a, terminal - time), decayIntegral(b, terminal - time)];
    return { time, dx, dy, wx, wy, covariance, frame: frameOf({ step, wx, wy }) };
  });
  let [rows, columns] = [3, 3];
  points.forEach(({ time, wx, wy, covariance: own, frame }, k) => {
    if (time <= 0) return;
    const { frame: following, dx, dy } = points[k + 1] ?? { frame, dx: 1, dy: 1 };
    const next = stepFrom({ frame: following, dx, dy });
    const capacity = { rows: 2 ** 20 + 1, columns: 2 ** 20 + 1 };
    const nodes = planeNodes({ frame, covariance: own, next, wx, wy, density, reach, ...capacity });
    rows = Math.max(rows, nodes.rows);
    columns = Math.max(columns, nodes.columns);
  });
  return [rows, columns];
}
