/**
 * The functions, formulas and numbers that a user writes, as kernel functions of (t, S, parameters of the instance).
 */
import { type KernelError, SpecError } from "../../../base/errors.ts";
import {
  type DeclaredFunctions,
  declaredFunctions,
  errorInFunction,
  formula,
  functionFromSource,
  type FunctionResult,
  type FunctionSpec,
  type LiftedFunction,
  real,
  type ResultKind,
  resultKindOf,
  interpretWithin,
  codeKeyOf,
  type RealFunction,
  userFunction,
} from "../../../kernel/index.ts";
import { typeInWords } from "../../../base/argument-checks.ts";
import { lazily, LOOP_BUDGET, type LoweredFunction, lowerFunction, memoizeLowered } from "./lowered.ts";

/**
 * The names that functions of a problem can use: the time, the axes, the user's parameters and functions. It also
 * collects the functions' numeric literals.
 */
export interface FunctionScope {
  /** The names of t, the axes and the parameters, in the order in which compiled functions take them. */
  readonly names: readonly string[];
  /** The number of axes among the names. */
  readonly axes: number;
  /** The user's functions that the problem's functions may call. */
  readonly functions: DeclaredFunctions;
  /** A text that is equal for states with equal names and functions. */
  readonly key: string;
  /**
   * The numeric literals of all functions compiled so far. They are passed as parameters, so that problems that differ
   * in literals only share their kernels.
   */
  readonly literals: number[];
}

/**
 * Returns the scope of a problem's functions from the names of its axes and parameters and the user's functions.
 * @throws SpecError functions that cannot be called, or a duplicate name
 */
export function functionScopeOf(axes: readonly string[], parameters: readonly string[], given: unknown): FunctionScope {
  const names = ["t", ...axes, ...parameters];
  const functions = declaredFunctions(given);
  const twice = Object.keys(functions).find((name) => names.includes(name));
  if (twice !== undefined) throw new SpecError(`functions.${twice}: an axis or a parameter has this name; rename it`);
  const own = Object.entries(functions).map(([name, one]) => `${name} ${codeKeyOf(one)}`);
  return { names, axes: axes.length, functions, key: [names.join(), ...own].join("\n"), literals: [] };
}

/** A function of numbers of the state, then of literals. */
type StateFunction = RealFunction<FunctionResult>;

/** A user's function of the state after compilation. T is the type of its result. */
export interface CompiledFunction<T = number> {
  /** The path of the function in the problem, for messages: "boundaries.S.low.value". */
  readonly path: string;
  /** The kernel function of t, the axes, the parameters and the function's literals, in this order. */
  readonly call: FunctionSpec;
  /** The text of the arguments of `call` in a kernel function that has the state as its argument. */
  readonly args: string;
  /** Returns the function's value, or its values by name, in f64 on the host; NaN where a loop did not end. */
  readonly at: (...state: readonly number[]) => T;
  /** True where the function depends on t. */
  readonly dependsOnTime: boolean;
  /** Tells whether the function depends on an axis, by the axis' number. */
  readonly dependsOnAxis: (axis: number) => boolean;
}

/**
 * The arguments of a user's function inside an adapter: "t, x[0], parameters[instance], parameters[pitch + instance]".
 * Literals are behind the parameters, those of other functions between.
 */
function argumentsText({ names, axes, literals }: FunctionScope, own: number): string {
  const count = names.length - 1 - axes;
  const rows = Array.from({ length: count }, (_, k) => k);
  for (let k = literals.length - own; k < literals.length; k++) rows.push(count + k);
  return [
    "t",
    ...Array.from({ length: axes }, (_, k) => `x[${k}]`),
    ...rows.map((row) => `parameters[${row} * pitch + instance]`),
  ].join(", ");
}

/**
 * Compiles a user's function, formula or number into a kernel function that returns a number. @throws KernelError, at
 * once, for code that is not in the kernel language | SpecError for anything else
 */
export function compileNumber(path: string, value: unknown, state: FunctionScope): CompiledFunction {
  const { names } = state;
  const make = lazily(() => numberFunction(path, value, state));
  const lowered = memoizeLowered("number", path, value, state.key, () => {
    const kind = resultKindOf(make(), "f64");
    if (kind !== "number") throw wrongResult(path, value, kind, "a number", names);
    return lowerFunction(make(), ["k"]);
  });
  return {
    path,
    ...taken(state, lowered),
    at: onHost(make, lowered, ([value]) => value),
    dependsOnTime: lowered.readsArgument(0),
    dependsOnAxis: (axis) => lowered.readsArgument(1 + axis),
  };
}

/** A function with its literals among those of the state. */
function taken(
  state: FunctionScope,
  { call, values }: Pick<LiftedFunction<FunctionResult>, "call" | "values">,
): Pick<CompiledFunction, "call" | "args"> {
  state.literals.push(...values);
  return { call, args: argumentsText(state, values.length) };
}

function wrongResult(
  path: string,
  given: unknown,
  kind: ResultKind,
  expected: string,
  names: readonly string[],
): KernelError {
  const got = typeof kind === "string" ? kind : kind.has("t") ? "the state as a whole" : [...kind.keys()].join(", ");
  return errorInFunction(path, String(given), `returns ${got}, expected ${expected}`, remedyFor(kind, expected, names));
}

function remedyFor(kind: ResultKind, expected: string, names: readonly string[]): string {
  if (kind === "true or false") return "write condition ? 1 : 0";
  if (kind === "nothing") return `return ${expected}; without braces an arrow function returns its expression`;
  if (kind === "an integer") return "convert it: gpu.real(…)";
  return typeof kind !== "string" && kind.has("t")
    ? `take what is needed of the state by name, in braces: ({ ${names[1]} }) => …`
    : `return ${expected}`;
}

function numberFunction(path: string, value: unknown, { names, functions }: FunctionScope): StateFunction {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new SpecError(`${path}: got ${value}, expected a finite number`);
    return formula(String(value), names);
  }
  if (typeof value === "string") return formula(value, names, path, functions);
  if (typeof value === "function") return userFunction(names, value as never, path, functions);
  throw new SpecError(`${path}: got ${typeInWords(value)}, expected a function of the state, a formula or a number`);
}

/**
 * The compiled coefficients of an equation: one function that returns an object with the user's names, and the
 * expressions that read each coefficient from it. K are the solver's names of the coefficients.
 */
export interface CompiledCoefficients<K extends string> extends CompiledFunction<Readonly<Record<string, number>>> {
  /**
   * The expression, as text, that reads each coefficient from `k`, the result of the user's function; "0.0" for an
   * omitted coefficient.
   */
  readonly reads: Readonly<Record<K, string>>;
  /** The user's names of the coefficients, for messages. */
  readonly labels: Readonly<Record<K, string>>;
  /** Tells whether a coefficient depends on an axis, by the axis' number; an omitted one does not. */
  readonly coefficientDepends: (key: K, axis: number) => boolean;
}

/** The part of equations that is the same for all of one text. */
interface KnownEquation<K extends string> extends Pick<LiftedFunction<FunctionResult>, "call" | "values"> {
  readonly reads: Readonly<Record<K, string>>;
  readonly labels: Readonly<Record<K, string>>;
  /** The names of the coefficients that there are, and the functions that give them: one for all, or one for each. */
  readonly fields: readonly string[];
  readonly lowered: readonly LoweredFunction[];
  readonly depends: (name: string, axis: number) => boolean;
}

/**
 * Compiles the coefficients of an equation. @param named the names that the user may give each coefficient, separated
 * by a bar: "Sv|vS" @throws KernelError | SpecError (an unknown coefficient)
 */
export function compileCoefficients<K extends string>(
  equation: unknown,
  named: Readonly<Record<K, string>>,
  state: FunctionScope,
): CompiledCoefficients<K> {
  const path = "equation";
  const { names } = state;
  const known = Object.values<string>(named).flatMap((name) => name.split("|"));
  const makeParts = lazily(() => partsOf(equation, known, state));
  const make = lazily((): StateFunction => userFunction(names, equation as never, path, state.functions));
  const isFunction = typeof equation === "function";
  const found = memoizeLowered("equation", `${path} ${known.join()} ${state.axes}`, equation, state.key, () => {
    const kind = coefficientsOf(isFunction ? make() : composed(makeParts(), names.length), equation, known, state);
    return isFunction ? knownFunction(make(), kind, named) : knownParts(makeParts(), kind, named, names.length);
  });
  const { reads, labels, fields, lowered, depends } = found;
  const byName = (values: Float64Array): Readonly<Record<string, number>> =>
    Object.fromEntries(fields.map((name, k) => [name, values[k]]));
  const hosts = isFunction
    ? []
    : lowered.map((one, k) =>
        onHost(
          () => makeParts()[k][1],
          one,
          ([value]) => value,
        ),
      );
  return {
    path,
    ...taken(state, found),
    reads,
    labels,
    at: isFunction
      ? onHost(make, lowered[0], byName)
      : (...values) => Object.fromEntries(fields.map((key, k) => [key, hosts[k](...values)])),
    dependsOnTime: lowered.some((one) => one.readsArgument(0)),
    dependsOnAxis: (axis) => lowered.some((one) => one.readsArgument(1 + axis)),
    coefficientDepends: (key, axis) => depends(labels[key], axis),
  };
}

/** The coefficients that an equation returns, by name. @throws SpecError for what is no coefficient */
function coefficientsOf(
  fn: StateFunction,
  equation: unknown,
  known: readonly string[],
  { names, axes }: FunctionScope,
): ReadonlyMap<string, ResultKind> {
  const kind = resultKindOf(fn, "f64");
  if (typeof kind === "string" || kind.has("t"))
    throw wrongResult("equation", equation, kind, `an object with some of ${known.join(", ")}`, names);
  const own = names.slice(1, 1 + axes);
  const where = axes === 1 ? `the axis ${own[0]}` : `the axes ${own.join(", ")}`;
  for (const [name, field] of kind) {
    if (!known.includes(name))
      throw new SpecError(`equation.${name}: unknown; the coefficients on ${where} are ${known.join(", ")}`);
    if (field !== "number")
      throw new SpecError(
        `equation.${name}: ${typeof field === "string" ? field : "several values"}, expected a number; ${remedyFor(field, "a number", names)}`,
      );
  }
  return kind;
}

/**
 * The text by which each coefficient is read of what the function returned, and the name that its author calls it by.
 */
function readsAndLabels<K extends string>(
  kind: ReadonlyMap<string, ResultKind>,
  named: Readonly<Record<K, string>>,
): Pick<KnownEquation<K>, "reads" | "labels"> {
  const keys = Object.keys(named) as K[];
  const labels = {} as Record<K, string>;
  for (const key of keys) labels[key] = oneName(named[key].split("|"), kind);
  const reads = {} as Record<K, string>;
  for (const key of keys) reads[key] = kind.has(labels[key]) ? `k.${labels[key]}` : "0.0";
  return { reads, labels };
}

function knownFunction<K extends string>(
  fn: StateFunction,
  kind: ReadonlyMap<string, ResultKind>,
  named: Readonly<Record<K, string>>,
): KnownEquation<K> {
  const fields = [...kind.keys()];
  const { reads, labels } = readsAndLabels(kind, named);
  const lowered = lowerFunction(
    fn,
    fields.map((name) => `k.${name}`),
  );
  const { call, values, resultDepends } = lowered;
  const depends = (name: string, axis: number): boolean => resultDepends(fields.indexOf(name), 1 + axis);
  return { call, values, reads, labels, fields, lowered: [lowered], depends };
}

/** The parts' literals are among those of the state, one part after the other. */
function knownParts<K extends string>(
  parts: Parts,
  kind: ReadonlyMap<string, ResultKind>,
  named: Readonly<Record<K, string>>,
  count: number,
): KnownEquation<K> {
  const { reads, labels } = readsAndLabels(kind, named);
  const lowered = parts.map(([, part]) => lowerFunction(part, ["k"]));
  const call = composed(
    parts.map(([key], k) => [key, lowered[k].call]),
    count,
  );
  return {
    call,
    values: lowered.flatMap(({ values }) => values),
    reads,
    labels,
    fields: parts.map(([key]) => key),
    lowered,
    depends: (name, axis) => parts.some(([key], k) => key === name && lowered[k].readsArgument(1 + axis)),
  };
}

/** The name of a mixed derivative that an equation uses. @throws SpecError for both */
function oneName(names: readonly string[], kind: ReadonlyMap<string, unknown>): string {
  const used = names.filter((name) => kind.has(name));
  if (used.length > 1)
    throw new SpecError(`equation.${used[1]}: the same derivative as ${used[0]}; write their sum as ${used[0]}`);
  return used[0] ?? names[0];
}

/** Functions by the names of the coefficients. */
type Parts = readonly (readonly [name: string, call: StateFunction])[];

function partsOf(equation: unknown, known: readonly string[], state: FunctionScope): Parts {
  if (typeof equation !== "object" || equation === null)
    throw new SpecError(`equation: got ${typeInWords(equation)}, expected a function of the state or formulas by name`);
  const unknown = Object.keys(equation).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new SpecError(`equation.${unknown}: unknown; the coefficients are ${known.join(", ")}`);
  return Object.entries(equation).map(
    ([key, value]) => [key, numberFunction(`equation.${key}`, value, state)] as const,
  );
}

/** One function of `count` values of the state; each part takes its own literals behind them. */
function composed(parts: Parts, count: number): StateFunction {
  const state = Array.from({ length: count }, (_, k) => `x${k}`);
  const all = [...state];
  const fields = parts.map(([key, { params }], k) => {
    const own = params.slice(count).map((_, l) => `l${all.length + l}`);
    all.push(...own);
    return `${key}: f${k}(${[...state, ...own].join(", ")})`;
  });
  return functionFromSource({
    name: "equation",
    params: all.map(() => real),
    env: Object.fromEntries(parts.map(([, part], k) => [`f${k}`, part])),
    source: `([${all.join(", ")}], gpu, { ${parts.map((_, k) => `f${k}`).join(", ")} }) => ({ ${fields.join(", ")} })`,
  });
}

/** A function's value in f64 on the host; `make` is called when it is wanted first. */
function onHost<T>(
  make: () => StateFunction,
  { ir, values }: LiftedFunction<FunctionResult>,
  resultOf: (values: Float64Array) => T,
): CompiledFunction<T>["at"] {
  if (ir.countedLoops === undefined) return (...state) => (make() as unknown as CompiledFunction<T>["at"])(...state);
  const literals = Object.fromEntries(values.map((value, k) => [`literal${k}`, value]));
  return (...state) => {
    const out = new Float64Array(MAX_RESULTS);
    const args = Object.fromEntries(state.map((value, k) => [`x${k}`, value]));
    return resultOf(interpretWithin(ir, { ...args, ...literals, out }, LOOP_BUDGET) ? out : out.fill(NaN));
  };
}

/** Coefficients of an equation on ten axes. */
const MAX_RESULTS = 67;
