/** Market data as immutable plain data: curves, dividends and volatilities. Times are years from `asOf` (Act/365F). */
export {
  discountFactor,
  flatCurve,
  type ForwardCurve,
  type HullWhite,
  zeroCurve,
  type ZeroRate,
  combined,
  constant,
  fromIntegral,
  ONE_SECOND,
  integrate,
  integratedProduct,
  rollCurve,
  type PiecewiseConstant,
  shifted,
  valueAt,
} from "./rates.ts";
export { firstKeyFrom, KEY_NAMES, KEY_TIMES, keyMove, keyRatesUpTo, movedAtKey } from "./key-rates.ts";
export type { RatesModel, RatesMoved } from "./short-rate.ts";
export {
  alphaOf,
  decreasingAt,
  flatVolatility,
  type Heston,
  type StochasticLocal,
  impliedVolatility,
  integratedVariance,
  isStochastic,
  rollVolatility,
  type GaussianFactors,
  type Sabr,
  sigmasOf,
  movedByExpiry,
  shiftedSigma,
  shiftedVolatility,
  type StochasticVolatility,
  termStructure,
  staysZero,
  varianceOf,
  type Volatility,
} from "./volatility.ts";
export {
  afterDividend,
  type DiscreteDividend,
  type Dividends,
  dividendSchedule,
  rollDividends,
  noDividends,
  ratesLessYields,
  yieldsBefore,
  yieldsOf,
  yieldTo,
} from "./dividends.ts";
export {
  emptyRow,
  rollSurface,
  type LocalSurface,
  localSurface,
  rowMean,
  rootMeanSquare,
  rowRootMeanSquare,
  rowVolatility,
  type SurfaceRow,
  surfaceVolatility,
  withSurface,
} from "./surface.ts";
export {
  curveVariance,
  type Smile,
  type SmileCurve,
  type SmileSlice,
  type SmileSurface,
  quotedVariance,
  smileVariance,
  smileVolatility,
  type Variance,
  type VarianceAt,
} from "./smile.ts";
export { haganVolatility } from "./hagan.ts";
export { type Spline, splineAt, splineThrough } from "./spline.ts";
export { ssviVariance } from "./ssvi.ts";
export { type SviParameters, sviVariance } from "./svi.ts";
export { type Correlation, type CurrencyPair, pairRates, type PairPower, type Underlying } from "./underlying.ts";
export { doubtsAbout, type FitState, isDoubt, rollFit, type QuotedTime } from "./fit-state.ts";
export { type ChangedTime, changedTime, type DividendTimeChange, dividendTimeChange } from "./dividend-time-change.ts";
export { type AffineSpot, affineSpot } from "./affine.ts";
