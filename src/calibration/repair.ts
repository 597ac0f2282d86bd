/** The arbitrage-free surface nearest to a surface with arbitrage. */
import { fitAndreasenHuge } from "./andreasen-huge.ts";
import { rmseOf, type SurfaceFit, type UnderlyingQuotes } from "./fit.ts";

/** Points of an expiry at which the repaired surface is near to the one that it repairs. */
const POINTS = 25;

/**
 * Returns the surface itself if it is free of arbitrage. Otherwise it returns the surface of Andreasen and Huge (2011)
 * that is closest to it in implied volatility over the range of the quotes; the message reports this, and by how much
 * the volatilities changed.
 */
export function withoutArbitrage(quotes: UnderlyingQuotes, fit: SurfaceFit): SurfaceFit {
  if (fit.butterfly.free && fit.calendar.free) return fit;
  const sampled: UnderlyingQuotes = {
    ...quotes,
    expiries: quotes.expiries.map((expiry) => {
      const { logMoneyness: k, time } = expiry;
      const [from, to] = [k[0], k[k.length - 1]];
      const points =
        k.length === 1 ? k : Float64Array.from({ length: POINTS }, (_, i) => from + ((to - from) * i) / (POINTS - 1));
      return {
        ...expiry,
        logMoneyness: points,
        implied: points.map((at) => Math.max(fit.impliedVolatility(at, time), 1e-3)),
        weights: points.map(() => 1),
      };
    }),
  };
  const nearest = fitAndreasenHuge(sampled);
  const moved = rmseOf(sampled, nearest.impliedVolatility);
  const places = [
    ...(fit.butterfly.free ? [] : [`Gatheral's g is ${fit.butterfly.min.toPrecision(3)}`]),
    ...(fit.calendar.free ? [] : [`total variance falls by ${(-fit.calendar.min).toPrecision(3)}`]),
  ];
  const message =
    `repaired, because ${places.join(" and ")}: the nearest surface without arbitrage lies ` +
    `${moved.toPrecision(3)} of volatility (root mean square) from the fit`;
  return {
    ...nearest,
    status: fit.status === "converged" ? nearest.status : fit.status,
    model: fit.model,
    parameters: fit.parameters,
    ...(fit.standardErrors === undefined ? {} : { standardErrors: fit.standardErrors }),
    message: fit.message === undefined ? message : `${fit.message}; ${message}`,
    // The repair was asked for, and the misfit that it leaves is checked like any other.
    doubts: nearest.message === undefined ? [] : [nearest.message],
  };
}
