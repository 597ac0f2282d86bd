/**
 * Claims under Gaussian short rates dr = (θ(t) − a·r) dt + σ(t) dW, by quadrature from date to date in the coordinate z
 * of the linear Gauss–Markov form (Hagan & Woodward 1999): z is a martingale of variance ζ, and a bond
 *
 *   P(t, T) = D(T)/D(t)·exp(−(H(T) − H(t))·z − ½·(H(T)² − H(t)²)·ζ(t)),   N(t) = exp(H(t)·z + ½·H(t)²·ζ(t))/D(t).
 */
import { backward, paid, right, type Stage } from "./backward.ts";

/** Its discount factors, H and ζ. */
export interface GaussMarkov {
  readonly discount: (t: number) => number;
  readonly H: (t: number) => number;
  readonly zeta: (t: number) => number;
}

/** Hull and White's model with σ by date, constant up to each of the dates and on beyond the last. */
export function hullWhite(
  a: number,
  steps: readonly { readonly date: number; readonly volatility: number }[],
  discount: (t: number) => number,
): GaussMarkov {
  // ∫ e^{2as} ds from u to v.
  const growth = (u: number, v: number): number =>
    a === 0 ? v - u : (Math.exp(2 * a * v) - Math.exp(2 * a * u)) / (2 * a);
  return {
    discount,
    H: (t) => (a === 0 ? t : -Math.expm1(-a * t) / a),
    zeta: (t) => {
      let [sum, start] = [0, 0];
      steps.forEach(({ date, volatility }, i) => {
        const end = Math.min(i === steps.length - 1 ? Infinity : date, t);
        if (end > start) sum += volatility ** 2 * growth(start, end);
        start = Math.max(start, end);
      });
      return sum;
    },
  };
}

export type Payment = readonly [time: number, amount: number];

/** Payments from `after` on in units of the numeraire, at time t ≤ after. */
export function deflated({ discount, H, zeta }: GaussMarkov, t: number, payments: readonly Payment[]) {
  const variance = zeta(t);
  const terms = payments.map(([time, amount]) => [amount * discount(time), H(time)] as const);
  return (z: number): number =>
    terms.reduce((sum, [amount, h]) => sum + amount * Math.exp(-h * z - 0.5 * h * h * variance), 0);
}

/** A right on a date to a value, in units of the numeraire: "own" by the holder, "other" by the issuer. */
export interface Right {
  readonly time: number;
  readonly value: (z: number) => number;
  readonly isOther?: boolean;
}

/** The value of rights, nothing else: an option that pays one of the values, or nothing. */
export function optionValue(model: GaussMarkov, rights: readonly Right[]): number {
  const stages = rights.map(({ time, value }, k): Stage =>
    k === rights.length - 1
      ? {
          ...right(time, value),
          value: (z) => Math.max(value(z), 0),
          breaks: (_, from, to) => right(time, value).breaks(() => 0, from, to),
        }
      : right(time, value),
  );
  return backward(0, motionOf(model), stages);
}

/** The value of payments of which rights on dates take what comes after, for a value of their own. */
export function bondValue(model: GaussMarkov, payments: readonly Payment[], rights: readonly Right[]): number {
  const last = Math.max(...payments.map(([time]) => time));
  const stages = rights.map(({ time, value, isOther }, k): Stage => {
    // What is paid after this right and up to the next one comes on top of what is kept.
    const end = rights[k + 1]?.time ?? last;
    const between = deflated(
      model,
      time,
      payments.filter(([at]) => at > time && at <= end),
    );
    const own = right(time, value, isOther);
    const all = (z: number, kept: number): number => kept + between(z);
    return {
      time,
      value: (z, kept) => own.value(z, all(z, kept)),
      breaks: (kept, from, to) => own.breaks((z) => all(z, kept(z)), from, to),
    };
  });
  const first = deflated(
    model,
    0,
    payments.filter(([at]) => at <= (rights[0]?.time ?? last)),
  );
  return first(0) + (stages.length === 0 ? 0 : backward(0, motionOf(model), stages));
}

const motionOf = ({ zeta }: GaussMarkov) => ({
  variance: (from: number, to: number) => zeta(to) - zeta(from),
  drift: () => 0,
  discount: () => 1,
});

export { paid };
