import { noncentralChiSquare } from "./noncentral-chi-square.ts";

export interface CevOption {
  readonly right: "call" | "put";
  readonly spot: number;
  readonly strike: number;
  /** Years, > 0. */
  readonly expiry: number;
  readonly rate: number;
  readonly dividendYield: number;
  /** dS = (r − q)·S dt + sigma·S^beta dW, absorbed at 0; beta < 1. */
  readonly sigma: number;
  readonly beta: number;
}

/**
 * A European option in the constant-elasticity-of-variance model, β < 1, absorbed at zero (Cox 1975, Schroder 1989):
 *
 *   call = S·e^{−qT}·Q(2y; 2 + 2/(2−b), 2x) − K·e^{−rT}·(1 − Q(2x; 2/(2−b), 2y)),     b = 2β,
 *   k = 2(r−q)/(σ²(2−b)(e^{(r−q)(2−b)T} − 1)),  x = k·S^{2−b}·e^{(r−q)(2−b)T},  y = k·K^{2−b},
 *
 * Q the upper tail of the noncentral chi-square distribution; puts by parity. Verified: test/market/models/cev.
 */
export function cevPrice(option: CevOption): number {
  const { right, spot, strike, expiry, rate, dividendYield, sigma, beta } = option;
  const power = 2 - 2 * beta;
  const exponent = (rate - dividendYield) * power * expiry;
  // (e^z − 1)/(r − q)/(2 − b) tends to T as the drift vanishes.
  const time = Math.abs(exponent) < 1e-12 ? expiry : (Math.expm1(exponent) / exponent) * expiry;
  const k = 2 / (sigma * sigma * power * power * time);
  const x = k * spot ** power * Math.exp(exponent);
  const y = k * strike ** power;
  const asset = spot * Math.exp(-dividendYield * expiry);
  const bond = strike * Math.exp(-rate * expiry);
  const first = noncentralChiSquare(2 * y, 2 + 2 / power, 2 * x);
  const second = noncentralChiSquare(2 * x, 2 / power, 2 * y);
  return right === "call" ? asset * first.upper - bond * second.lower : bond * second.upper - asset * first.lower;
}
