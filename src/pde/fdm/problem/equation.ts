import type { Gpu, Precision, UserFunctions } from "../../../kernel/index.ts";

/** The coordinate of an axis: its value, or the value's logarithm. */
export type CoordinateName = "linear" | "log";

/** The rule of node density: uniform, or concentrated by sinh or tanh about given points. */
export type DensityKind = "uniform" | "sinh" | "tanh";

/** The requested position of a point relative to the mesh: on a node, or midway between two nodes. */
export type Alignment = "node" | "midway";

/**
 * A number, or a formula of the parameters such as "1.5*K", which is evaluated once for each entry of the batch.
 * @experimental
 */
export type Quantity = number | string;

/**
 * A function in the kernel language, a subset of JavaScript. It may use `Math`, `gpu`, its arguments and the problem's
 * `functions`, but no variables of the surrounding code.
 */
export type KernelCode<N extends string, R, F = unknown> = (
  state: Readonly<Record<N, number>>,
  gpu: Gpu,
  functions: F,
) => R;

/**
 * A number that may depend on the state: a function in the kernel language, a formula as text, or a constant. The state
 * has t (years from today), the axes and the parameters, by name.
 * @experimental
 */
export type StateFunction<N extends string, F = unknown> = KernelCode<N, number, F> | string | number;

/**
 * The names of the coefficients. On one axis S they are SS (of ∂²V/∂S²), S (of ∂V/∂S), V and source. A second axis v
 * adds vv, v and the mixed one, Sv or vS. Omitted coefficients are zero.
 * @experimental
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
 * An object with coefficients by name. The type parameter `C`, the names that the user's function returns, is needed to
 * reject unknown names, because TypeScript allows excess properties in a returned object.
 */
export type Coefficients<A extends string, C extends string> = {
  readonly [K in C]?: K extends CoefficientName<A> ? number : NoCoefficient<K, A>;
};

/**
 * The coefficients of ∂V/∂t + SS·∂²V/∂S² + S·∂V/∂S + V·V + source = 0 by name, on several axes of all first and second
 * derivatives: either one function that returns them all, or a formula for each.
 * @experimental
 */
export type EquationCoefficients<
  A extends string,
  N extends string,
  C extends string = CoefficientName<A>,
  F = unknown,
> = KernelCode<N, Coefficients<A, C>, F> | { readonly [K in CoefficientName<A>]?: StateFunction<N, F> };

/** A point of an axis about which nodes are dense or with which they are aligned. @experimental */
export interface AxisPoint {
  /** A value of the axis. */
  readonly at: Quantity;
  /**
   * The position of the point relative to the mesh: on a node (the default; for kinks and continuously monitored
   * barriers), midway between two nodes (for jumps of the payoff and barriers monitored on dates), or anywhere
   * ("none").
   */
  readonly align?: Alignment | "none";
  /** Makes nodes dense around it; true by default. */
  readonly concentrate?: boolean;
}

/** An axis of a problem and its mesh. @experimental */
export interface Axis {
  /** The lower end, in units of the axis. */
  readonly from: Quantity;
  /** The upper end. */
  readonly to: Quantity;
  /**
   * The number of nodes, 201 by default. It must be odd if a second, coarser mesh is needed (`errorEstimate`,
   * `extrapolate`).
   */
  readonly nodes?: number;
  /**
   * The coordinate in which derivatives are discretised: "linear", x = S (the default), or "log", x = ln S. The
   * equation, the boundaries and all functions are written in S either way.
   */
  readonly coordinate?: CoordinateName;
  /** The points that the mesh should resolve: strikes, barriers, spots. A quantity alone means { at: quantity }. */
  readonly points?: readonly (Quantity | AxisPoint)[];
  /** The concentration of nodes around points: "sinh" (the default), "tanh" or "uniform". */
  readonly density?: DensityKind;
  /** The width of the dense region around a point, in units of the coordinate; by default a twentieth of the axis. */
  readonly width?: Quantity;
}

/**
 * The boundary condition at an end of an axis.
 *
 * * `linear`: ∂²V/∂S² = 0, whatever the coordinate, so the equation without its second derivative applies. The default.
 *   On several axes the mixed derivative is zero there too, because the slope along the axis does not depend on the
 *   others.
 * * `zero-curvature`: ∂²V/∂x² = 0 in the coordinate x. Mixed derivatives remain.
 * * `dirichlet`: V = value.
 * * `neumann`: ∂V/∂S = slope.
 * @experimental
 */
export type Boundary<N extends string, F = unknown> =
  | { readonly kind: "linear" }
  | { readonly kind: "zero-curvature" }
  | { readonly kind: "dirichlet"; readonly value: StateFunction<N, F> }
  | { readonly kind: "neumann"; readonly slope: StateFunction<N, F> };

/**
 * The method by which each time step imposes V ≥ payoff.
 *
 * * `penalty`: policy iteration, which is the penalty method (Forsyth & Vetzal 2002) with an infinite penalty, for any
 *   exercise region. The default on one axis.
 * * `brennan-schwartz`: projection during substitution (Brennan & Schwartz 1977). It is the fastest, and exact if the
 *   exercise region is one interval at the end `side` of the axis.
 * * `operator-splitting`: a multiplier carried from step to step (Ikonen & Toivanen 2004), for any exercise region. It
 *   costs as much as one solution, and is measured to be of first order in time. It is the only method on several axes,
 *   and the default there.
 * @experimental
 */
export type ExerciseMethod = "penalty" | "brennan-schwartz" | "operator-splitting";

/**
 * A condition on dates or over time: exercise, a jump of the state, or a knock-out. Conditions on one date are applied
 * backward in time, in the order in which they are listed.
 * @experimental
 */
export type Condition<N extends string, F = unknown> =
  | {
      /** The kind of a right to exercise, V ≥ payoff. A problem has at most one. */
      readonly kind: "exercise";
      /** The amount that exercise pays. */
      readonly payoff: StateFunction<N, F>;
      /** The exercise dates in years from today; at all times without them. */
      readonly at?: readonly Quantity[];
      /** The method for exercise at all times. */
      readonly method?: ExerciseMethod;
      /** The end of the axis at which the exercise region lies; by default where the payoff is larger at expiry. */
      readonly side?: "low" | "high";
    }
  | {
      /** The kind of a jump of the state on dates, as by a dividend: V(S) ← V(to(S)). */
      readonly kind: "jump";
      /** The axis along which the state jumps, by default the first one. */
      readonly axis?: string;
      /** The dates in years from today. */
      readonly at: readonly Quantity[];
      /** The value of the axis after the jump, as a function of the state before it. */
      readonly to: StateFunction<N, F>;
    }
  | {
      /** The kind of a knock-out: V = value where S ≤ below or S ≥ above, or where `where` is not negative. */
      readonly kind: "knock-out";
      /** The axis of `below` and `above`, by default the first one. */
      readonly axis?: string;
      /** A function that is not negative where the state is knocked out; on several axes. */
      readonly where?: StateFunction<N, F>;
      /** The value of the axis at and below which the state is knocked out. */
      readonly below?: StateFunction<N, F>;
      /** The value of the axis at and above which the state is knocked out. */
      readonly above?: StateFunction<N, F>;
      /** The value V after a knock-out, 0 by default. */
      readonly value?: StateFunction<N, F>;
      /** The monitoring dates in years from today; continuously without them. */
      readonly at?: readonly Quantity[];
      /** The start of continuous monitoring in years from today, 0 by default. */
      readonly from?: Quantity;
      /** The end of continuous monitoring, by default the expiry. */
      readonly until?: Quantity;
    };

/**
 * The time-stepping scheme. The first four kinds are for one axis. The others are for several axes, and solve along one
 * axis after another (ADI; In 't Hout & Welfert 2009). `theta` is ½ by default; for the modified Craig–Sneyd scheme it
 * is ⅓, on three axes 6/13, and for that of Hundsdorfer and Verwer ½ + √3/6. `rannacherSteps` is the number of steps
 * after expiry and after each date that two half steps of implicit Euler replace.
 * @experimental
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

/** The schemes that solve for all nodes of one axis at once. @experimental */
export type OneAxisScheme =
  | { readonly kind: "implicit-euler" }
  | { readonly kind: "crank-nicolson"; readonly rannacherSteps?: number }
  | { readonly kind: "theta"; readonly theta: number; readonly rannacherSteps?: number }
  | { readonly kind: "tr-bdf2"; readonly rannacherSteps?: number };

/**
 * A parabolic equation on one to three axes to be solved backward from expiry to today:
 *
 *   ∂V/∂t + Σ aᵢⱼ(t, x) ∂²V/∂xᵢ∂xⱼ + Σ bᵢ(t, x) ∂V/∂xᵢ + c(t, x) V + d(t, x) = 0,   V(expiry, x) = terminal(x).
 *
 * For an axis named S the coefficients are SS = a, S = b, V = c, source = d. With a second axis v there are vv, v and
 * Sv, the coefficient of ∂²V/∂S∂v, given once. The problem is a specification: plain data and functions, without a
 * device. Type parameters: `A` the names of the axes, `P` of the parameters, `C` of the coefficients that the equation
 * returns, `F` the user's functions.
 * @stable
 */
export interface EquationProblem<
  A extends string,
  P extends string = never,
  C extends string = CoefficientName<A>,
  F extends UserFunctions = Record<never, never>,
> {
  /** The axes by name, one to three. Nodes of the first axis are contiguous in the arrays of results. */
  readonly axes: Readonly<Record<A, Axis>>;
  /**
   * The values of the parameters by name. An array has one value for each entry of the batch; a number is the same for
   * all entries.
   */
  readonly parameters?: Readonly<Record<P, number | readonly number[]>>;
  /**
   * Functions that all functions and formulas of the problem may call by name: `(S, t) => …`, or kernel functions of
   * reals (`fn`). A function takes them as its third argument, `({ S, t }, gpu, { sigmaOf }) => …`; a formula calls
   * them as `"sigmaOf(S, t)"`.
   */
  readonly functions?: F;
  /** The coefficients of the equation, as one function or as a formula for each. Omitted ones are zero. */
  readonly equation: EquationCoefficients<NoInfer<A>, NoInfer<"t" | A | P>, C, NoInfer<F>>;
  /** The value V at expiry. */
  readonly terminal: StateFunction<NoInfer<"t" | A | P>, NoInfer<F>>;
  /** The time to expiry in years, > 0. */
  readonly expiry: Quantity;
  /** The boundary conditions at the ends of each axis; `{ kind: "linear" }` by default. */
  readonly boundaries?: {
    readonly [K in NoInfer<A>]?: {
      readonly low?: Boundary<NoInfer<"t" | A | P>, NoInfer<F>>;
      readonly high?: Boundary<NoInfer<"t" | A | P>, NoInfer<F>>;
    };
  };
  /** The rights to exercise, jumps and knock-outs. */
  readonly conditions?: readonly Condition<NoInfer<"t" | A | P>, NoInfer<F>>[];
  /**
   * The time-stepping scheme; by default Crank–Nicolson, on several axes the modified Craig–Sneyd scheme, with two
   * Rannacher steps.
   */
  readonly scheme?: SchemeChoice;
  /** The number of time steps from expiry to today, 100 by default. Conditions on dates may add some. */
  readonly steps?: number;
  /**
   * The grading of the time steps. They start small after expiry and double in size grading − 1 times (at most twice
   * after other dates); 1 means equal steps. The default is 1, and more for exercise at all times, because the exercise
   * boundary moves like √time near expiry.
   */
  readonly grading?: number;
  /**
   * The variable of a Richardson extrapolation, which uses a second solution with half the steps ("time") or half the
   * intervals ("space"), or both.
   */
  readonly extrapolate?: "time" | "space" | "both";
  /**
   * Estimates the error by a second solution with half the steps and half the intervals; on several axes by two, one of
   * each. With `extrapolate` the extrapolation already gives an estimate.
   */
  readonly errorEstimate?: boolean;
  /**
   * The parameters by which derivatives of the solution are wanted. For each of them every entry is solved twice more,
   * in the same launch.
   */
  readonly sensitivities?: readonly NoInfer<P>[];
  /**
   * The treatment of nodes at which drift dominates diffusion. "fitted" (the default on one axis) raises diffusion
   * until the matrix is an M-matrix, so that the solution does not oscillate, but the scheme is of first order there.
   * "central" (the default on several axes) leaves the central difference.
   */
  readonly convection?: "fitted" | "central";
  /**
   * The only point at which the solution of each entry is wanted. Only the nodes about it are then read back from the
   * device, and the solution's `nodes` and `values` have only these. For thousands of entries on a GPU, reading all
   * values would take longer than the solution.
   */
  readonly at?: Readonly<Record<NoInfer<A>, Quantity>>;
  /** The precision, "f64" by default. On WebGPU the default is f32x2, an emulated double precision. */
  readonly precision?: Precision;
}

/** A problem with arbitrary names, as the solver handles it internally. */
export type AnyProblem = EquationProblem<string, string, string, UserFunctions>;

/** The parts of a problem that define its equation, shared by all solvers. */
export type EquationParts = Pick<
  AnyProblem,
  "parameters" | "functions" | "equation" | "terminal" | "expiry" | "boundaries" | "conditions" | "convection"
> & { readonly axes: Readonly<Record<string, Pick<Axis, "coordinate">>> };
