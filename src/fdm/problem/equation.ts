import type { Gpu, Precision, UserFunctions } from "../../kernel/index.ts";
import type { Alignment } from "../mesh/align.ts";
import type { DensityKind } from "../mesh/density.ts";
import type { CoordinateName } from "../mesh/axis-mesh.ts";

/** A number, or a formula of the parameters, evaluated once for each entry of the batch: "1.5*K". */
export type Quantity = number | string;

/**
 * A function in the kernel language: it may use `Math`, `gpu`, its arguments and the problem's `functions`, and nothing
 * from the surrounding code.
 */
export type KernelCode<N extends string, R, F = unknown> = (
  state: Readonly<Record<N, number>>,
  gpu: Gpu,
  functions: F,
) => R;

/**
 * A number in every state: a function of the state in the kernel language, a formula, or a constant. The state is t
 * (years from today), the axis and the parameters, by name.
 */
export type StateFunction<N extends string, F = unknown> = KernelCode<N, number, F> | string | number;

/**
 * The names of the coefficients: on one axis S they are SS, S, V and source; a second axis v adds vv, v and the mixed
 * one, Sv or vS. Omitted ones are zero.
 */
export type CoefficientName<A extends string, B extends string = A> = A extends string
  ? (B extends string ? `${A}${B}` : never) | A | "V" | "source"
  : never;

/** The compiler's message for a name that is no coefficient. */
type NoCoefficient<K extends string, A extends string, Each = A> = Each extends unknown
  ? [A] extends [Each]
    ? `${K} is no coefficient: those on the axis ${A} are ${A}${A}, ${A}, V and source`
    : `${K} is no coefficient: those are an axis, two axes in a row, V and source`
  : never;

/**
 * The coefficients by name. The type parameter `C`, the names that a function returns, is needed to reject unknown
 * names, because TypeScript allows excess properties in a returned object.
 */
export type Coefficients<A extends string, C extends string> = {
  readonly [K in C]?: K extends CoefficientName<A> ? number : NoCoefficient<K, A>;
};

/**
 * The coefficients of ∂V/∂t + SS·∂²V/∂S² + S·∂V/∂S + V·V + source = 0 by name, on several axes those of all second and
 * first derivatives: one function that returns them, or a formula for each.
 */
export type EquationCoefficients<
  A extends string,
  N extends string,
  C extends string = CoefficientName<A>,
  F = unknown,
> = KernelCode<N, Coefficients<A, C>, F> | { readonly [K in CoefficientName<A>]?: StateFunction<N, F> };

/** A point of the axis near which nodes are dense or aligned. */
export interface AxisPoint {
  /** A value of the axis. */
  readonly at: Quantity;
  /**
   * The place of the point: on a node (the default; for kinks and continuous barriers), midway between two (for jumps
   * of the payoff and barriers on dates), or anywhere.
   */
  readonly align?: Alignment | "none";
  /** Makes nodes dense around it; true by default. */
  readonly concentrate?: boolean;
}

/** The axis of a problem and its mesh. */
export interface Axis {
  /** The lower end, in units of the axis. */
  readonly from: Quantity;
  /** The upper end. */
  readonly to: Quantity;
  /** The number of nodes, 201 by default. Odd if there is a second mesh (`errorEstimate`, `extrapolate`). */
  readonly nodes?: number;
  /**
   * The coordinate in which derivatives are discretised: "linear", x = S (the default), or "log", x = ln S. The
   * equation, the boundaries and everything else are written in S either way.
   */
  readonly coordinate?: CoordinateName;
  /** The points that matter: strikes, barriers, spots; a quantity alone is { at: quantity }. */
  readonly points?: readonly (Quantity | AxisPoint)[];
  /** The concentration of nodes around points: "sinh" (the default), "tanh" or "uniform". */
  readonly density?: DensityKind;
  /** The width of the dense part around a point, in units of the coordinate; by default a twentieth of the axis. */
  readonly width?: Quantity;
}

/**
 * The condition at an end of an axis.
 *
 * * `linear`: ∂²V/∂S² = 0, whatever the coordinate: the equation without its second derivative. The default. The slope
 *   along an axis is the same for all values of the others, so that there is no mixed derivative.
 * * `zero-curvature`: ∂²V/∂x² = 0 in the coordinate x. Mixed derivatives stay.
 * * `dirichlet`: V = value.
 * * `neumann`: ∂V/∂S = slope.
 */
export type Boundary<N extends string, F = unknown> =
  | { readonly kind: "linear" }
  | { readonly kind: "zero-curvature" }
  | { readonly kind: "dirichlet"; readonly value: StateFunction<N, F> }
  | { readonly kind: "neumann"; readonly slope: StateFunction<N, F> };

/**
 * The method by which V ≥ payoff is solved for in each stage.
 *
 * * `penalty`: policy iteration, which is the penalty method (Forsyth & Vetzal 2002) with an infinite penalty, for any
 *   exercise region. The default.
 * * `brennan-schwartz`: projection during substitution (Brennan & Schwartz 1977). Fastest, and exact if the region is
 *   one interval at the `side`.
 * * `operator-splitting`: a multiplier carried from step to step (Ikonen & Toivanen 2004), for any region, at the cost
 *   of one solution; of first order in time, as measured here. The only one on several axes, and the default there.
 */
export type ExerciseMethod = "penalty" | "brennan-schwartz" | "operator-splitting";

/**
 * A condition on dates or over time. Conditions on one date are applied backward in time, in the order they are listed.
 */
export type Condition<N extends string, F = unknown> =
  | {
      /** The kind of a right to exercise, V ≥ payoff, at all times or on the dates `at`. A problem has at most one. */
      readonly kind: "exercise";
      readonly payoff: StateFunction<N, F>;
      readonly at?: readonly Quantity[];
      readonly method?: ExerciseMethod;
      /** The end of the axis that the exercise region is at; by default where payoff is larger at expiry. */
      readonly side?: "low" | "high";
    }
  | {
      /** The kind of a jump of the state on the dates `at`: V(S) ← V(to(S)), along `axis`, by default the first one. */
      readonly kind: "jump";
      readonly axis?: string;
      readonly at: readonly Quantity[];
      readonly to: StateFunction<N, F>;
    }
  | {
      /**
       * The kind of a knock-out: V = value (0 by default) where S ≤ below or S ≥ above on `axis` (by default the first
       * one), or, on several axes, where the function `where` is not negative; on the dates `at`, or at all times
       * between `from` (0) and `until` (expiry).
       */
      readonly kind: "knock-out";
      readonly axis?: string;
      readonly where?: StateFunction<N, F>;
      readonly below?: StateFunction<N, F>;
      readonly above?: StateFunction<N, F>;
      readonly value?: StateFunction<N, F>;
      readonly at?: readonly Quantity[];
      readonly from?: Quantity;
      readonly until?: Quantity;
    };

/**
 * The time-stepping scheme: of one axis the first four, of several axes the others, which solve along one axis after
 * another (ADI; In 't Hout & Welfert 2009). `theta` is ½ by default, of the modified Craig–Sneyd scheme ⅓, on three
 * axes 6/13, and of Hundsdorfer's and Verwer's ½ + √3/6. `rannacherSteps` is the number of steps after expiry and each
 * date that are replaced by two half steps of implicit Euler.
 */
export type SchemeChoice =
  | OneAxisScheme
  | { readonly kind: "douglas"; readonly theta?: number; readonly rannacherSteps?: number }
  | { readonly kind: "craig-sneyd"; readonly theta?: number; readonly rannacherSteps?: number }
  | { readonly kind: "modified-craig-sneyd"; readonly theta?: number; readonly rannacherSteps?: number }
  | {
      readonly kind: "hundsdorfer-verwer";
      readonly theta?: number;
      readonly mu?: number;
      readonly rannacherSteps?: number;
    };

/** The schemes that solve for all nodes of one axis at once. */
export type OneAxisScheme =
  | { readonly kind: "implicit-euler" }
  | { readonly kind: "crank-nicolson"; readonly rannacherSteps?: number }
  | { readonly kind: "theta"; readonly theta: number; readonly rannacherSteps?: number }
  | { readonly kind: "tr-bdf2"; readonly rannacherSteps?: number };

/**
 * A problem for a parabolic equation on one to three axes, backward from expiry to today:
 *
 *   ∂V/∂t + Σ aᵢⱼ(t, x) ∂²V/∂xᵢ∂xⱼ + Σ bᵢ(t, x) ∂V/∂xᵢ + c(t, x) V + d(t, x) = 0,   V(expiry, x) = terminal(x).
 *
 * For an axis named S the coefficients are SS = a, S = b, V = c, source = d. With a second axis v there are vv, v and
 * Sv, the coefficient of ∂²V/∂S∂v, once. It is a specification: plain data and functions, without a device. `A` are
 * the names of the axes, `P` those of the parameters, `C` those of what the equation returns, `F` your functions.
 */
export interface EquationProblem<
  A extends string,
  P extends string = never,
  C extends string = CoefficientName<A>,
  F extends UserFunctions = Record<never, never>,
> {
  /** The axes by name, one to three. The first one is the fastest in memory. */
  readonly axes: Readonly<Record<A, Axis>>;
  /** The run-time values by name; an array has one for each entry of the batch, a number is the same for all. */
  readonly parameters?: Readonly<Record<P, number | readonly number[]>>;
  /**
   * The user's functions that the functions and formulas below may call by name, `(S, t) => …` or kernel functions of
   * reals (`fn`). They are the third argument: `({ S, t }, gpu, { sigmaOf }) => …`; in formulas, `"sigmaOf(S, t)"`.
   */
  readonly functions?: F;
  /** The coefficients, as one function or as a formula for each. Those left out are zero. */
  readonly equation: EquationCoefficients<NoInfer<A>, NoInfer<"t" | A | P>, C, NoInfer<F>>;
  /** The value V at expiry. */
  readonly terminal: StateFunction<NoInfer<"t" | A | P>, NoInfer<F>>;
  /** The time to expiry in years, > 0. */
  readonly expiry: Quantity;
  /** The conditions at the ends of each axis; `{ kind: "linear" }` by default. */
  readonly boundaries?: {
    readonly [K in NoInfer<A>]?: {
      readonly low?: Boundary<NoInfer<"t" | A | P>, NoInfer<F>>;
      readonly high?: Boundary<NoInfer<"t" | A | P>, NoInfer<F>>;
    };
  };
  /** The exercise, jumps and knock-outs. */
  readonly conditions?: readonly Condition<NoInfer<"t" | A | P>, NoInfer<F>>[];
  /**
   * The time-stepping scheme; by default Crank–Nicolson, on several axes the modified Craig–Sneyd scheme, with two
   * Rannacher steps.
   */
  readonly scheme?: SchemeChoice;
  /** The number of time steps from expiry to today without conditions, each a step of the scheme; 100 by default. */
  readonly steps?: number;
  /**
   * The grading of time steps: they start small after expiry and double grading − 1 times (at most twice after other
   * dates); 1 is uniform. The default is 1, and more for exercise at all times, because the exercise boundary moves
   * like √time near expiry.
   */
  readonly grading?: number;
  /** The Richardson extrapolation, from a solution with half the steps, half the intervals, or both. */
  readonly extrapolate?: "time" | "space" | "both";
  /**
   * Estimates the error by a second solution with half the steps and half the intervals, on several axes by one of
   * each. An extrapolation estimates it by itself.
   */
  readonly errorEstimate?: boolean;
  /**
   * The parameters whose derivatives are wanted at points of the solution: each entry is solved twice more for each of
   * them, in the same launch.
   */
  readonly sensitivities?: readonly NoInfer<P>[];
  /**
   * The treatment of nodes between which drift dominates diffusion: "fitted" (the default on one axis) raises diffusion
   * until the matrix is an M-matrix, so that the solution does not oscillate and the scheme is of first order there.
   * "central" (the default on several axes) leaves it.
   */
  readonly convection?: "fitted" | "central";
  /** The precision, "f64" by default, which is f32x2, emulated double, on WebGPU. */
  readonly precision?: Precision;
}

/** A problem with any names, as the solver handles it internally. */
export type AnyProblem = EquationProblem<string, string, string, UserFunctions>;

/** The parts of a problem that define its equation, shared by all solvers. */
export type EquationParts = Pick<
  AnyProblem,
  "parameters" | "functions" | "equation" | "terminal" | "expiry" | "boundaries" | "conditions" | "convection"
> & { readonly axes: Readonly<Record<string, Pick<Axis, "coordinate">>> };
