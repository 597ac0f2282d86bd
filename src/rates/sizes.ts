/** The numbers of nodes that trades take, by the same formulas as the kernel. */
import { decayIntegral, stepVariance } from "./gaussian.ts";
import { nodesAt } from "./recursion.ts";
import { type GaussianMarket, packMarkets, type ShortRateTrade } from "./terms.ts";

/** The most nodes at any date of a trade. */
export function nodesNeeded(
  { dates, flows }: ShortRateTrade,
  market: GaussianMarket,
  { density, reach }: { readonly density: number; readonly reach: number },
): number {
  const { markets, parameters } = packMarkets([market]);
  const packed = { parameters, start: markets[0], pieces: markets[1] };
  const a = market.meanReversion;
  const terminal = flows[flows.length - 1][0];
  let variance = 0;
  let most = 3;
  const steps = dates.map(({ time }, k) => {
    const t = k === 0 ? 0 : dates[k - 1].time;
    const decay = Math.exp(-a * (time - t));
    return { time, decay, step: Math.sqrt(stepVariance({ market: packed, t, s: time })) };
  });
  steps.forEach(({ time, decay, step }, k) => {
    variance = decay * decay * variance + step * step;
    const after = k + 1 < steps.length ? steps[k + 1] : undefined;
    const shorter = after === undefined ? step : Math.min(step, after.step / after.decay);
    const difference = decayIntegral(a, terminal - time);
    const width = shorter / density;
    if (time > 0) most = Math.max(most, nodesAt({ variance, width, difference, reach, capacity: 2 ** 28 + 1 }).count);
  });
  return most;
}
