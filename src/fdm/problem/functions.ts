/** What a user writes, functions, formulas and numbers, as kernel functions of (t, S, parameters of the instance). */
import { type KernelError, SpecError } from "../../errors.ts";
import {
  errorInFunction,
  formula,
  functionFromSource,
  type FunctionResult,
  type FunctionSpec,
  i32,
  type KernelIR,
  type Lifted,
  liftLiterals,
  read,
  real,
  type ResultKind,
  resultOf,
  runWithin,
  type RealFunction,
  userFunction,
} from "../../kernel/index.ts";
import type { EquationCoefficients, StateNumber } from "../operator/equation-variant.ts";
import { shownType } from "./checks.ts";

/** What functions of a problem are given: the state, and behind the user's parameters their own literals. */
export interface State {
  /** t, the axes, the parameters: the order in which functions take the state. */
  readonly names: readonly string[];
  /** How many of them are axes. */
  readonly axes: number;
  /** Those of all functions so far, by which problems with the same kernels differ. */
  readonly literals: number[];
}

/** A function of numbers of the state, then of literals. */
type StateFunction = RealFunction<FunctionResult>;

/** A function of the state as the user gave it, with the place it stands at; it gives a T. */
export interface Given<T = number> {
  readonly path: string;
  /** Of t, the axis, the parameters and the function's literals, in this order. */
  readonly call: FunctionSpec;
  /** The arguments of `call` inside an adapter. */
  readonly args: string;
  /** Its value, or values by name, in f64 on the host; NaN where a loop did not end. */
  readonly at: (...state: readonly number[]) => T;
  readonly dependsOnTime: boolean;
  /** Whether it reads an axis, by the axis' number. */
  readonly dependsOnAxis: (axis: number) => boolean;
}

/**
 * Rounds that the loops of a user's function may make in one call before they count as endless: a tenth of a second
 * at most.
 */
export const LOOP_BUDGET = 1_000_000;

/** What an adapter takes: t, S, the parameters' buffer, its pitch, the instance. */
export const stateParams = [real, real, read(real), i32, i32] as const;

/** The coordinates of a state on several axes: what adapters call them. */
export const COORDINATES = ["x0", "x1", "x2"] as const;

/**
 * "t, S, parameters[instance], parameters[pitch + instance], …": the arguments of a user's function inside an adapter.
 * Literals are behind the parameters, those of other functions between.
 */
function argumentsText({ names, axes, literals }: State, own: number): string {
  const count = names.length - 1 - axes;
  const rows = Array.from({ length: count }, (_, k) => k);
  for (let k = literals.length - own; k < literals.length; k++) rows.push(count + k);
  const coordinates = axes === 1 ? ["S"] : COORDINATES.slice(0, axes);
  return ["t", ...coordinates, ...rows.map((row) => `parameters[${row} * pitch + instance]`)].join(", ");
}

/** @throws KernelError, at once, for what is not in the kernel language | SpecError for what is no function */
export function givenNumber(path: string, value: unknown, state: State): Given {
  const { names } = state;
  const fn = numberFunction(path, value, names);
  const kind = resultOf(fn, "f64");
  if (kind !== "number") throw wrongResult(path, value, kind, "a number", names);
  const lifted = liftLiterals(fn, ["k"], LOOP_BUDGET);
  return { path, ...taken(state, lifted), ...onHost(fn, lifted, ([value]) => value) };
}

/** A function with its literals among those of the state. */
function taken(
  state: State,
  { call, values }: Pick<Lifted<FunctionResult>, "call" | "values">,
): Pick<Given, "call" | "args"> {
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

function numberFunction(path: string, value: unknown, names: readonly string[]): StateFunction {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new SpecError(`${path}: got ${value}, expected a finite number`);
    return formula(String(value), names);
  }
  if (typeof value === "string") return formula(value, names, path);
  if (typeof value === "function") return userFunction(names, value as never, path);
  throw new SpecError(`${path}: got ${shownType(value)}, expected a function of the state, a formula or a number`);
}

/**
 * The equation's coefficients: which there are, and a function that returns them as the object the user names them in.
 */
export interface GivenEquation<K extends string = "a" | "b" | "c" | "d"> extends Given<
  Readonly<Record<string, number>>
> {
  /** For each key the text that reads it from `k`, what the user's function returned; "0.0" where there is none. */
  readonly reads: Readonly<Record<K, string>>;
  /** Names as the user knows them, for messages. */
  readonly labels: Readonly<Record<K, string>>;
}

/** The coefficients of an equation on one axis. */
export const labelsOnAxis = (axis: string): Readonly<Record<"a" | "b" | "c" | "d", string>> => ({
  a: `${axis}${axis}`,
  b: axis,
  c: "V",
  d: "source",
});

/**
 * @param labels what each coefficient is called; of several names, "Sv" or "vS", separated by a bar, any one
 * @throws KernelError | SpecError (an unknown coefficient)
 */
export function givenEquation<K extends string>(
  equation: unknown,
  named: Readonly<Record<K, string>>,
  state: State,
): GivenEquation<K> {
  const path = "equation";
  const { names } = state;
  const known = Object.values<string>(named).flatMap((name) => name.split("|"));
  const axes = names.slice(1, 1 + state.axes);
  const where = axes.length === 1 ? `the axis ${axes[0]}` : `the axes ${axes.join(", ")}`;
  const parts = typeof equation === "function" ? undefined : partsOf(equation, known, names);
  const fn: StateFunction =
    parts === undefined ? userFunction(names, equation as never, path) : composed(parts, names.length);
  const kind = resultOf(fn, "f64");
  if (typeof kind === "string" || kind.has("t"))
    throw wrongResult(path, equation, kind, `an object with some of ${known.join(", ")}`, names);
  for (const [name, field] of kind) {
    if (!known.includes(name))
      throw new SpecError(`equation.${name}: unknown; the coefficients on ${where} are ${known.join(", ")}`);
    if (field !== "number")
      throw new SpecError(
        `equation.${name}: ${typeof field === "string" ? field : "several values"}, expected a number; ${remedyFor(field, "a number", names)}`,
      );
  }
  const keys = Object.keys(named) as K[];
  const labels = {} as Record<K, string>;
  for (const key of keys) labels[key] = oneName(named[key].split("|"), kind);
  const reads = {} as Record<K, string>;
  for (const key of keys) reads[key] = kind.has(labels[key]) ? `k.${labels[key]}` : "0.0";
  if (parts !== undefined) return { path, ...liftedParts(parts, state), reads, labels };
  const fields = [...kind.keys()];
  const byName = (values: Float64Array): Readonly<Record<string, number>> =>
    Object.fromEntries(fields.map((name, k) => [name, values[k]]));
  const lifted = liftLiterals<FunctionResult>(
    fn,
    fields.map((name) => `k.${name}`),
    LOOP_BUDGET,
  );
  return { path, ...taken(state, lifted), ...onHost(fn, lifted, byName), reads, labels };
}

/** Which of the names of a mixed derivative an equation uses. @throws SpecError for both */
function oneName(names: readonly string[], kind: ReadonlyMap<string, unknown>): string {
  const used = names.filter((name) => kind.has(name));
  if (used.length > 1)
    throw new SpecError(`equation.${used[1]}: the same derivative as ${used[0]}; write their sum as ${used[0]}`);
  return used[0] ?? names[0];
}

/** Functions by the names of the coefficients. */
type Parts = readonly (readonly [name: string, call: StateFunction])[];

function partsOf(equation: unknown, known: readonly string[], names: readonly string[]): Parts {
  if (typeof equation !== "object" || equation === null)
    throw new SpecError(`equation: got ${shownType(equation)}, expected a function of the state or formulas by name`);
  const unknown = Object.keys(equation).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new SpecError(`equation.${unknown}: unknown; the coefficients are ${known.join(", ")}`);
  return Object.entries(equation).map(
    ([key, value]) => [key, numberFunction(`equation.${key}`, value, names)] as const,
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

/** The parts' literals are among those of the state, one part after the other. */
function liftedParts(parts: Parts, state: State): Omit<Given<Readonly<Record<string, number>>>, "path"> {
  const lifted = parts.map(([, part]) => liftLiterals<FunctionResult>(part, ["k"], LOOP_BUDGET));
  const call = composed(
    parts.map(([key], k) => [key, lifted[k].call]),
    state.names.length,
  );
  const hosts = parts.map(([, part], k) => onHost(part, lifted[k], ([value]) => value));
  return {
    ...taken(state, { call, values: lifted.flatMap(({ values }) => values) }),
    at: (...values) => Object.fromEntries(parts.map(([key], k) => [key, hosts[k].at(...values)])),
    dependsOnTime: hosts.some(({ dependsOnTime }) => dependsOnTime),
    dependsOnAxis: (axis) => hosts.some(({ dependsOnAxis }) => dependsOnAxis(axis)),
  };
}

/** A kernel function (t, S, parameters, pitch, instance) → number, of one axis. */
export function numberAdapter({ call, args, path }: Given): StateNumber {
  return functionFromSource({
    name: path,
    params: stateParams,
    env: { f: call },
    source: `([t, S, parameters, pitch, instance], gpu, { f }) => f(${args})`,
  });
}

/** A kernel function (t, S, parameters, pitch, instance) → { a, b, c, d }. */
export function equationAdapter({ call, args, reads }: GivenEquation): EquationCoefficients {
  return functionFromSource({
    name: "equation",
    params: stateParams,
    env: { f: call },
    source:
      `([t, S, parameters, pitch, instance], gpu, { f }) => { const k = f(${args}); ` +
      `return { a: ${reads.a}, b: ${reads.b}, c: ${reads.c}, d: ${reads.d} }; }`,
  });
}

/** What is found out about a function by lowering it alone. */
function onHost<T>(
  fn: StateFunction,
  { ir, values }: Lifted<FunctionResult>,
  resultOf: (values: Float64Array) => T,
): Pick<Given<T>, "at" | "dependsOnTime" | "dependsOnAxis"> {
  const literals = Object.fromEntries(values.map((value, k) => [`literal${k}`, value]));
  const within = (...state: readonly number[]): T => {
    const out = new Float64Array(MAX_RESULTS);
    const args = Object.fromEntries(state.map((value, k) => [`x${k}`, value]));
    return resultOf(runWithin(ir, { ...args, ...literals, out }, LOOP_BUDGET) ? out : out.fill(NaN));
  };
  return {
    at: ir.countedLoops === undefined ? (fn as unknown as Given<T>["at"]) : within,
    dependsOnTime: readsArgument(ir, 0),
    dependsOnAxis: (axis) => readsArgument(ir, 1 + axis),
  };
}

/** Coefficients of an equation on three axes. */
const MAX_RESULTS = 11;

/** Whether the k-th argument is read. */
const readsArgument = ({ scalars, body }: KernelIR, k: number): boolean =>
  readsParam(
    body,
    scalars.findIndex(({ name }) => name === `x${k}`),
  );

/** Whether scalar parameter `id` stands anywhere in a piece of lowered code. */
function readsParam(code: unknown, id: number): boolean {
  if (typeof code !== "object" || code === null) return false;
  const node = code as { readonly kind?: unknown; readonly id?: unknown };
  if (node.kind === "param" && node.id === id) return true;
  return Object.values(code).some((child) => readsParam(child, id));
}
