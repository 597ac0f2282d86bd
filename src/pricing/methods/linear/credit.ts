/** The figures of credit default swaps, and the moves of hazard rates between two books. */
import type { LinearCurves, LinearFigures, LinearTrade } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import { Curve, type CurveData, type CurveGradient } from "../../../market/linear/index.ts";
import { curvesOf, type LinearValue, paidNow } from "./value.ts";

/** Returns the figures that only credit default swaps have; nothing for other trades. */
export function creditFigures(
  { fair, market }: LinearTrade,
  now: LinearValue,
  gradient: CurveGradient | undefined,
): LinearFigures {
  if (fair?.kind !== "credit") return {};
  const { coupon, settlement, loss, survival, hasOwnRecovery } = fair;
  const [protection, premium] = now.legs;
  const value = now.value();
  const annuity = now.valueOf(premium.leg.byRate);
  const accrued = premium.unit * fair.accrued;
  const byHazard = gradient?.[survival];
  const byCurve = hasOwnRecovery ? undefined : market.byRecovery[survival];
  const byOwn = -protection.unit * now.valueOf(loss);
  return {
    clean: value - accrued,
    accrued,
    fairRate: protection.value / annuity,
    fairUpfront: (protection.value - coupon * annuity) / now.valueOf([settlement]),
    annuity,
    creditSensitivity: byHazard === undefined ? null : sumOf(byHazard),
    recoverySensitivity: byHazard === undefined ? null : byOwn + (byCurve === undefined ? 0 : dot(byCurve, byHazard)),
    jumpToDefault: atDefault(now) - value,
  };
}

/** Returns the sum of the derivatives by the nodes of a curve: that by a parallel move. */
export const sumOf = (slopes: Float64Array): number => slopes.reduce((sum, one) => sum + one, 0);

const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, one, k) => sum + one * b[k], 0);

/** The value if the issuer defaults now: what is paid then, and payments that do not need the issuer. */
function atDefault({ legs }: LinearValue): number {
  return legs.reduce(
    (all, { left, flows, unit }) =>
      left.reduce((sum, { factors, atDefault: payment, scale }, k) => {
        if (payment !== undefined) return sum + unit * scale * paidNow(payment);
        return factors.length > 1 ? sum : sum + unit * flows.scaled[k] * flows.amounts[k];
      }, all),
    0,
  );
}

/** Returns a market with the survival curves of another one, whose time 0 is `years` later than that of the market. */
export function withSurvival(market: LinearCurves, other: LinearCurves, years: number): LinearCurves {
  const curves = market.curves.map((curve, c) => {
    const at = market.recoveries[c] === undefined ? -1 : other.names.indexOf(market.names[c]);
    return at < 0 ? curve : delayed(curvesOf(other)[at], years);
  });
  return { ...market, curves };
}

/** A survival curve as seen from some years earlier, without a default until then; from later if they are negative. */
function delayed(curve: Curve, years: number): CurveData {
  const nodes = [years, ...Array.from(curve.times, (time) => time + years)].filter((time) => time > ONE_SECOND);
  const times = [...nodes, (nodes.at(-1) ?? 0) + 1];
  const survived = curve.logDiscount(Math.max(-years, 0));
  return new Curve(
    times,
    times.map((time) => (curve.logDiscount(Math.max(time - years, 0)) - survived) / time),
  );
}

/** Returns the parallel move of the hazard rate that gives the later probability of survival; 0 for other trades. */
export function hazardMove({ fair, market, seen }: LinearTrade, after: LinearTrade): number {
  if (fair?.kind !== "credit" || after.fair?.kind !== "credit" || after.expiry === 0) return 0;
  const [from, to] = [curvesOf(market)[fair.survival], curvesOf(after.market)[after.fair.survival]];
  const before = from.logDiscount(seen + after.expiry) - from.logDiscount(seen);
  return (to.logDiscount(after.expiry) - before) / after.expiry;
}
