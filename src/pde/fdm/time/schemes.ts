import { SpecError } from "../../../base/errors.ts";
import { checkObject, checkKeys, checkWholeNumber } from "../../../base/argument-checks.ts";
import type { SchemeChoice } from "../problem/equation.ts";

/**
 * One stage of a time step, backward from t + Δt to t: it solves one linear system and extrapolates. With F(u) = Lu +
 * d:
 *
 *   y  = fromU·u + fromV·v + implicit·Δt·F(y; t_at)        solved for y
 *   v ← u,   u ← u + extrapolation·(y − u)
 *
 * so that L is never applied, whatever the scheme. Before the first stage of a step u is the solution at t + Δt, and
 * after the last one at t.
 */
interface Stage {
  /** The ratio h/Δt, where I − hL is the matrix of the linear system. */
  readonly implicit: number;
  /** The time at which F is evaluated, as a fraction of the step: t_at = t + Δt − at·Δt. */
  readonly at: number;
  /** The time to which u belongs after the stage, as a fraction of the step: t + Δt − end·Δt. */
  readonly end: number;
  /** The weight of u on the right-hand side. */
  readonly fromU: number;
  /** The weight of v, the solution before the previous stage, on the right-hand side. */
  readonly fromV: number;
  /** The factor of y − u in the new u. */
  readonly extrapolation: number;
}

/**
 * The second sweep of an alternating-direction scheme, after a first one of increments D: with F = F₀ + F₁ + … + F_d,
 * F₀ the mixed derivatives, L and L₀ their linear parts, and P = (I − θΔtL₁)·…·(I − θΔtL_d),
 *
 *   D₀ = Δt·F(u),   P·D = D₀                                                (sweep 1)
 *   E₀ = D₀ − keep·D + Δt·(mixed·L₀ + full·L)·D,   P·E = E₀                 (sweep 2)
 *   u′ = u + keep·D + E.
 */
export interface Correction {
  readonly keep: 0 | 1;
  readonly mixed: number;
  readonly full: number;
}

/** A time-stepping scheme: its order of convergence and its stages. */
export interface TimeScheme {
  /** The order of convergence in time. */
  readonly order: 1 | 2;
  readonly stages: readonly Stage[];
  /** The second sweep of an alternating-direction scheme; without one, u′ = u + D. */
  readonly correction?: Correction;
}

/**
 * The implicit Euler scheme, u′ = u + Δt·F(u′; t), of first order and L-stable. Its half steps are the Rannacher start
 * of the other schemes.
 */
export const implicitEuler: TimeScheme = {
  order: 1,
  stages: [{ implicit: 1, at: 1, end: 1, fromU: 1, fromV: 0, extrapolation: 1 }],
};

/**
 * The θ scheme in its one-leg form (Dahlquist 1975; Hairer & Wanner, *Solving ODEs II*, V.6),
 *
 *   y = u + θΔt·F(y; t + Δt − θΔt)                          (1)
 *   u′ = u + (y − u)/θ,   that is   u′ = u + Δt·F(θu′ + (1 − θ)u)   (2)
 *
 * the same as (I − θΔtL)u′ = (I + (1 − θ)ΔtL)u where L does not depend on time. A-stable for θ ≥ ½.
 */
function theta(theta: number): TimeScheme {
  return {
    order: theta === 0.5 ? 2 : 1,
    stages: [{ implicit: theta, at: theta, end: 1, fromU: 1, fromV: 0, extrapolation: 1 / theta }],
  };
}

/**
 * The scheme of Crank and Nicolson (1947): θ = ½, of second order and only A-stable, so that rough data need
 * Rannacher's start (1984), which the time grid provides.
 */
export const crankNicolson: TimeScheme = {
  order: 2,
  stages: [{ implicit: 0.5, at: 0.5, end: 1, fromU: 1, fromV: 0, extrapolation: 2 }],
};

/** γ = 2 − √2 gives both stages the same matrix, and the least error constant (Bank et al. 1985). */
const gamma = 2 - Math.SQRT2;

/**
 * The scheme TR-BDF2 (Bank, Coughran, Fichtner, Grosse, Rose & Smith 1985; Hosea & Shampine 1996): second order,
 * L-stable.
 *
 *   trapezoidal rule to t + Δt − γΔt     y = u + (γ/2)Δt·F(y),   u_γ = u + 2(y − u)                        (1)
 *   BDF2 from u and u_γ                  u′ = u_γ/(γ(2 − γ)) − u·(1 − γ)²/(γ(2 − γ)) + ((1 − γ)/(2 − γ))Δt·F(u′)   (2)
 *
 * with (1 − γ)/(2 − γ) = γ/2. Stage (1) is in one-leg form; its F is taken in the middle of its interval.
 */
export const trBdf2: TimeScheme = {
  order: 2,
  stages: [
    { implicit: gamma / 2, at: gamma / 2, end: gamma, fromU: 1, fromV: 0, extrapolation: 2 },
    {
      implicit: gamma / 2,
      at: 1,
      end: 1,
      fromU: 1 / (gamma * (2 - gamma)),
      fromV: -((1 - gamma) ** 2) / (gamma * (2 - gamma)),
      extrapolation: 1,
    },
  ],
};

/**
 * Returns the stages of an alternating-direction scheme, one sweep over all axes. The operator is evaluated in the
 * middle of the step, which is of second order, so that both sweeps of a scheme can share it. With L frozen, Yⱼ = Yⱼ₋₁
 * + θΔt(Fⱼ(Yⱼ) − Fⱼ(u)) is
 *
 *   (I − θΔtLⱼ)·(Yⱼ − u) = Yⱼ₋₁ − u,
 *
 * so that sweeps over the increments D = Y − u never need Fⱼ(u) separately.
 */
const directions = (theta: number): readonly Stage[] => [
  { implicit: theta, at: 0.5, end: 1, fromU: 1, fromV: 0, extrapolation: 1 / theta },
];

/**
 * The Douglas scheme (Douglas 1962; In 't Hout & Welfert 2009, (1.2)):
 *
 *   Y₀ = u + Δt·F(u),   Yⱼ = Yⱼ₋₁ + θΔt·(Fⱼ(Yⱼ) − Fⱼ(u)), j = 1 … d,   u′ = Y_d.
 *
 * Of second order for θ = ½ without mixed derivatives, which it takes explicitly, and of first order otherwise.
 */
const douglas = (theta: number, hasMixed: boolean): TimeScheme => ({
  order: theta === 0.5 && !hasMixed ? 2 : 1,
  stages: directions(theta),
});

/**
 * The scheme of Craig and Sneyd (1988), in the form of In 't Hout & Welfert (2009), (1.3): after Douglas' Y₀ … Y_d
 *
 *   Z₀ = Y₀ + ½Δt·(F₀(Y_d) − F₀(u)),   Zⱼ = Zⱼ₋₁ + θΔt·(Fⱼ(Zⱼ) − Fⱼ(u)),   u′ = Z_d.
 *
 * In increments E = Z − u: E₀ = D₀ + ½Δt·L₀·D. Of second order for θ = ½.
 */
const craigSneyd = (theta: number): TimeScheme => ({
  order: theta === 0.5 ? 2 : 1,
  stages: directions(theta),
  correction: { keep: 0, mixed: 0.5, full: 0 },
});

/**
 * The modified scheme of In 't Hout & Welfert (2009), (1.4):
 *
 *   Ŷ₀ = Y₀ + θΔt·(F₀(Y_d) − F₀(u)),   Z₀ = Ŷ₀ + (½ − θ)Δt·(F(Y_d) − F(u)),
 *   Zⱼ = Zⱼ₋₁ + θΔt·(Fⱼ(Zⱼ) − Fⱼ(u)),   u′ = Z_d.
 *
 * Of second order for any θ.
 */
const modifiedCraigSneyd = (theta: number): TimeScheme => ({
  order: 2,
  stages: directions(theta),
  correction: { keep: 0, mixed: theta, full: 0.5 - theta },
});

/**
 * The θ of the modified Craig–Sneyd scheme, by the number of axes, with which it is stable for all mixed derivatives
 * (In 't Hout & Mishra 2011 and 2013).
 */
const MCS_THETA: Readonly<Record<number, number>> = { 2: 1 / 3, 3: 6 / 13 };

/**
 * The scheme of Hundsdorfer and Verwer (2003), in the form of In 't Hout & Welfert (2009), (1.5): after Douglas'
 * Y₀ … Y_d
 *
 *   Z₀ = Y₀ + μΔt·(F(Y_d) − F(u)),   Zⱼ = Zⱼ₋₁ + θΔt·(Fⱼ(Zⱼ) − Fⱼ(Y_d)),   u′ = Z_d.
 *
 * In increments D = Y_d − u and E = Z − Y_d: E₀ = D₀ − D + μΔt·L·D. Of second order for μ = ½ and any θ.
 */
const hundsdorferVerwer = (theta: number, mu: number): TimeScheme => ({
  order: mu === 0.5 ? 2 : 1,
  stages: directions(theta),
  correction: { keep: 1, mixed: 0, full: mu },
});

/**
 * The θ of the scheme of Hundsdorfer and Verwer with which it is stable for mixed derivatives on two axes (In 't Hout &
 * Welfert 2007).
 */
const HV_THETA = 0.5 + Math.sqrt(3) / 6;

/** The time-stepping scheme of a problem with all of its parameters. */
interface ChosenScheme {
  readonly kind: SchemeChoice["kind"];
  readonly scheme: TimeScheme;
  /** The number of steps after expiry and after each date that two half steps of implicit Euler replace. */
  readonly rannacherSteps: number;
}

const ONE_AXIS = ["implicit-euler", "crank-nicolson", "theta", "tr-bdf2"];
const SEVERAL_AXES = ["douglas", "craig-sneyd", "modified-craig-sneyd", "hundsdorfer-verwer"];

/**
 * Returns the scheme that a user chose, with default parameters for a number of axes. @throws SpecError a scheme that
 * is not for so many axes, or an invalid parameter
 */
export function chosenScheme(choice: SchemeChoice, axes = 1, hasMixed = false): ChosenScheme {
  checkObject("scheme", choice, 'an object with its kind: { kind: "tr-bdf2" }');
  checkKeys("scheme", choice, ["kind", "theta", "mu", "rannacherSteps"]);
  const { kind } = choice;
  if (axes > 1 && ONE_AXIS.includes(kind))
    throw new SpecError(`scheme.kind: "${kind}" is for one axis; of several, expected ${SEVERAL_AXES.join(", ")}`);
  if (axes === 1 && SEVERAL_AXES.includes(kind))
    throw new SpecError(`scheme.kind: "${kind}" is for several axes; of one, expected ${ONE_AXIS.join(", ")}`);
  const given = choice as { readonly theta?: number; readonly mu?: number; readonly rannacherSteps?: number };
  const rannacherSteps = (byDefault: number): number => {
    const steps = given.rannacherSteps ?? byDefault;
    checkWholeNumber("scheme.rannacherSteps", steps, 0, 7);
    return steps;
  };
  const thetaOf = (byDefault: number, min: number): number => {
    const value = given.theta ?? byDefault;
    if (!(value >= min && value <= 1))
      throw new SpecError(
        `scheme.theta: got ${value}, expected ${min === 0.5 ? "½" : "¼"} … 1; below it steps are unstable`,
      );
    return value;
  };
  switch (kind) {
    case "implicit-euler":
      return { kind, scheme: implicitEuler, rannacherSteps: 0 };
    case "crank-nicolson":
      return { kind, scheme: crankNicolson, rannacherSteps: rannacherSteps(2) };
    case "theta":
      if (!(choice.theta >= 0.5 && choice.theta <= 1))
        throw new SpecError(
          `scheme.theta: got ${choice.theta}, expected ½ … 1; below ½ the scheme is not stable for large steps`,
        );
      return { kind, scheme: theta(choice.theta), rannacherSteps: rannacherSteps(choice.theta < 1 ? 2 : 0) };
    case "tr-bdf2":
      return { kind, scheme: trBdf2, rannacherSteps: rannacherSteps(0) };
    case "douglas":
      return { kind, scheme: douglas(thetaOf(0.5, 0.5), hasMixed), rannacherSteps: rannacherSteps(2) };
    case "craig-sneyd":
      return { kind, scheme: craigSneyd(thetaOf(0.5, 0.5)), rannacherSteps: rannacherSteps(2) };
    case "modified-craig-sneyd":
      return { kind, scheme: modifiedCraigSneyd(thetaOf(MCS_THETA[axes], 0.25)), rannacherSteps: rannacherSteps(2) };
    case "hundsdorfer-verwer": {
      const { mu = 0.5 } = given;
      if (!(mu >= 0 && mu <= 1)) throw new SpecError(`scheme.mu: got ${mu}, expected 0 … 1; ½ is of second order`);
      return { kind, scheme: hundsdorferVerwer(thetaOf(HV_THETA, 0.25), mu), rannacherSteps: rannacherSteps(2) };
    }
    default:
      throw new SpecError(
        `scheme.kind: got ${JSON.stringify(kind satisfies never)}, expected ${[...ONE_AXIS, ...SEVERAL_AXES].join(", ")}`,
      );
  }
}
