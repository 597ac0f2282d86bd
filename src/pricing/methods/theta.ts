/** The market at one spot and time: rate and yield per year, volatility per √year. */
export interface SpotMarket {
  readonly spot: number;
  readonly rate: number;
  readonly dividendYield: number;
  readonly sigma: number;
}

/** Returns theta from the equation, V_t = rV − (r − q)S·V_S − ½σ²S²·V_SS, with today's r and σ. */
export function thetaOf(
  { spot, rate, dividendYield, sigma }: SpotMarket,
  value: number,
  delta: number,
  gamma: number,
): number {
  return rate * value - (rate - dividendYield) * spot * delta - 0.5 * sigma * sigma * spot * spot * gamma;
}
