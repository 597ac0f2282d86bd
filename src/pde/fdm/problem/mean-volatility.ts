/** The volatility over a part of a life: the root of the mean square, since variances add. */
import { integratedVariance, rowRootMeanSquare, rowVolatility } from "../../../market/index.ts";
import { type Diffusing, type Diffusion, volatilityAt } from "./diffusion.ts";
import { clockOf, varianceProfile } from "./variance-profile.ts";

/**
 * Returns the root mean square of σ between two times as a function of the spot. A formula is looked at where the clock
 * of its variance at today's spot has passed an equal part each.
 */
export function volatilityOver(problem: Diffusing, from: number, to: number): (spot: number) => number {
  const { diffusion } = problem;
  switch (diffusion.kind) {
    case "local":
      return (spot) => volatilityAt(diffusion, spot, from);
    case "deterministic": {
      const variance = integratedVariance(diffusion.sigma, to) - integratedVariance(diffusion.sigma, from);
      const sigma = Math.sqrt(Math.max(variance, 0) / (to - from));
      return () => sigma;
    }
    case "surface": {
      const row = rowRootMeanSquare(diffusion.surface, from, to, diffusion.shift);
      return (spot) => Math.max(rowVolatility(diffusion.surface, row, spot), 0);
    }
    case "formula":
      return ofFormula(problem, diffusion, from, to);
    default:
      return diffusion satisfies never;
  }
}

/** The number of times at which a formula is looked at. */
const LOOKS = 8;

function ofFormula(
  problem: Diffusing,
  diffusion: Extract<Diffusion, { kind: "formula" }>,
  from: number,
  to: number,
): (spot: number) => number {
  const looks = looksOf(problem, from, to);
  const years = looks.reduce((sum, look) => sum + look.years, 0);
  return (spot) => {
    let variance = 0;
    for (const look of looks) variance += volatilityAt(diffusion, spot, look.time) ** 2 * look.years;
    return Math.sqrt(variance / years);
  };
}

/** A time at which a formula is looked at, and the years for which it stands. */
interface Look {
  readonly time: number;
  readonly years: number;
}

function looksOf(problem: Diffusing, from: number, to: number): readonly Look[] {
  const profile = varianceProfile(problem);
  const parts = Array.from({ length: LOOKS }, (_, i) => (i + 0.5) / LOOKS);
  const hasVariance = profile?.variances.some((variance) => variance > 0) === true;
  if (!hasVariance) return parts.map((part) => ({ time: from + part * (to - from), years: (to - from) / LOOKS }));
  const clock = clockOf(profile);
  const [first, last] = [clock.at(from), clock.at(to)];
  return parts.map((part) => {
    const shown = first + part * (last - first);
    return { time: clock.timeOf(shown), years: (clock.yearsAt(shown) * (last - first)) / LOOKS };
  });
}
