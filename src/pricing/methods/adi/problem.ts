/** From the terms of a row to problems for `solve`. */
import type { Barrier, Payoff } from "../../../book/index.ts";
import { BookError } from "../../../errors.ts";
import {
  type Condition,
  type EquationProblem,
  isMonitored,
  isPast,
  type MonitoredLevel,
  SAME_DATE,
} from "../../../fdm/index.ts";
import { integrate } from "../../../market/index.ts";
import { assetName, axisOf, factorEquation, type FactorEquation } from "./equation.ts";
import type { Terms } from "../../terms.ts";
import { Parameters, renamed } from "./text.ts";

/** A barrier of one of the assets. */
interface Level extends MonitoredLevel {
  readonly asset: number;
  readonly rebate: number;
  readonly paysAtExpiry: boolean;
}

/** A value that needs no solution. */
export interface Known {
  readonly value: number;
  readonly method: "payoff" | "knocked-out";
  /** Whether it is paid at expiry. */
  readonly discounted: boolean;
}

/** A problem and how often it counts: in–out parity subtracts one. */
export interface Part {
  readonly sign: 1 | -1;
  readonly knockOuts: readonly Level[];
  /** What is taken off the payoff, the rebate of knock-ins. */
  readonly less: number;
}

/** A problem for `solve`, whose numbers stand beside it. */
export interface Built {
  /** Problems with the same key differ in their parameters alone. */
  readonly key: string;
  readonly problem: EquationProblem<string, string>;
  readonly parameters: Parameters;
  readonly equation: FactorEquation;
}

/** How fine a problem is solved. */
export interface Fineness {
  /** Of each axis. */
  readonly nodes: readonly number[];
  readonly steps: number;
}

/** What a trade is worth at some spots of today if that needs no solution: it is knocked out, or expires. */
export function knownAt(terms: Terms, spots: readonly number[]): Known | undefined {
  const { barriers, expiry } = terms;
  const hit = levelsOf(barriers, "-out").find((level) => isHit(level, spots, expiry));
  if (hit !== undefined) {
    const value = hit.rebate * (hit.paysAtExpiry ? Math.exp(-integrate(terms.rates, expiry)) : 1);
    return { value, method: "knocked-out", discounted: hit.paysAtExpiry };
  }
  if (expiry > 0) return undefined;
  const ins = levelsOf(barriers, "-in");
  const isIn = ins.length === 0 || ins.some((level) => isHit(level, spots, expiry));
  return { value: isIn ? payoffAt(terms, spots) : ins[0].rebate, method: "payoff", discounted: false };
}

/** Whether one of a part's knock-outs is hit by spots of today. */
export const isKnockedOut = ({ knockOuts }: Part, spots: readonly number[], expiry: number): boolean =>
  knockOuts.some((level) => isHit(level, spots, expiry));

const isHit = (level: Level, spots: readonly number[], expiry: number): boolean =>
  isPast(level, spots[level.asset]) && isMonitored(level, 0, expiry);

const levelsOf = (barriers: readonly Barrier[], kind: "-out" | "-in"): readonly Level[] =>
  barriers.filter(({ type }) => type.endsWith(kind)).map(levelOf);

/**
 * What a trade is the sum of, for some spots of today: European knock-ins by parity, as `withBarriers` of one factor.
 * @throws BookError knock-ins with several rebates
 */
export function partsOf(
  { barriers, expiry }: Terms,
  all: readonly (readonly number[])[],
  path: string,
): readonly Part[] {
  const outs = levelsOf(barriers, "-out");
  const ins = levelsOf(barriers, "-in");
  const whole: Part = { sign: 1, knockOuts: outs, less: 0 };
  if (ins.length === 0 || all.every((spots) => ins.some((level) => isHit(level, spots, expiry)))) return [whole];
  const [{ rebate }] = ins;
  if (ins.some((other) => other.rebate !== rebate))
    throw new BookError(
      `${path}.barriers`,
      "knock-ins have one rebate together, paid if none is ever hit: give each of them the same",
    );
  const knockOuts = [...outs, ...ins].map((level) => ({ ...level, rebate: 0 }));
  return [whole, { sign: -1, knockOuts, less: rebate }];
}

function levelOf({ type, level, rebate, rebateAt, monitoring, from, to, asset = 0 }: Barrier): Level {
  const times = monitoring.kind === "discrete" ? monitoring.times : from === to ? [from] : undefined;
  const side = type.startsWith("up") ? "up" : "down";
  return { asset, side, level, from, to, times, rebate, paysAtExpiry: rebateAt === "expiry" };
}

/** The problem of a part. `from`: the terms whose mesh it has. */
export function build(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { knockOuts, less }: Part,
  { nodes, steps }: Fineness,
): Built {
  const p = new Parameters();
  const equation = factorEquation(terms, from, spots, p);
  const { expiry, exercise, assets } = terms;
  const T = p.add(expiry, "T");
  const whole = (level: Level): boolean =>
    level.times === undefined && level.from <= SAME_DATE * expiry && level.to >= expiry * (1 - SAME_DATE);
  const axes: Record<string, ReturnType<typeof axisOf>> = {};
  const boundaries: Record<string, { low?: object; high?: object }> = {};
  const rebate = (level: Level): string => rebateText(level, terms, p);
  equation.factors.forEach((factor, k) => {
    // Those that the axis does not reach are not hit.
    const own = knockOuts.filter(
      ({ asset, level }) => k < assets.length && asset === k && level > factor.range.from && level < factor.range.to,
    );
    // The innermost barrier of the whole life ends the axis; others beyond it are never hit.
    const low = own.filter((level) => whole(level) && level.side === "down").sort((a, b) => b.level - a.level)[0];
    const high = own.filter((level) => whole(level) && level.side === "up").sort((a, b) => a.level - b.level)[0];
    const range = {
      ...factor.range,
      from: low === undefined ? factor.range.from : low.level,
      to: high === undefined ? factor.range.to : high.level,
    };
    const inner = own.filter((level) => !whole(level) && level.level > range.from && level.level < range.to);
    const strike = k === 0 && assets.length === 1 ? strikeOf(terms.payoff) : undefined;
    const points = [
      ...(strike !== undefined && strike > range.from && strike < range.to
        ? [{ at: p.add(strike, "K"), align: terms.payoff.kind === "digital" ? ("midway" as const) : ("none" as const) }]
        : []),
      ...inner.map((level) => ({
        at: p.add(level.level, "H"),
        align: level.times === undefined ? ("node" as const) : ("midway" as const),
      })),
    ];
    axes[factor.name] = axisOf({ ...factor, range }, nodes[k], points, p);
    boundaries[factor.name] = {
      ...(low === undefined ? {} : { low: { kind: "dirichlet", value: rebate(low) } }),
      ...(high === undefined ? {} : { high: { kind: "dirichlet", value: rebate(high) } }),
    };
  });
  const names = assets.map((_, i) => assetName(assets.length, i));
  const payoff = payoffText(terms.payoff, names, p);
  // A jump needs Rannacher's steps; a kink, averaged over cells, is better without them (design/factors.md).
  const mayJump = terms.payoff.kind === "digital" || terms.payoff.kind === "expression" || knockOuts.length > 0;
  const isRough = mayJump || exercise.kind === "american";
  const problem = {
    axes,
    equation: equation.coefficients,
    terminal: lessText(payoffText(terms.payoff, atExpiry(terms, names, p), p), less, p),
    expiry: T,
    boundaries,
    conditions: [
      ...exerciseOf(exercise, expiry, payoff, p),
      ...knockOuts.filter((level) => !whole(level)).map((level) => knockOutOf(level, names, rebate(level), p)),
      ...jumpsOf(terms, names, axes, p),
      ...restartsOf(terms, names[0], p),
    ],
    steps,
    extrapolate: "both",
    ...(isRough ? {} : { scheme: { kind: "modified-craig-sneyd", rannacherSteps: 0 } }),
  } as unknown as EquationProblem<string, string>;
  return { key: JSON.stringify(problem), problem, parameters: p, equation };
}

/** A jump of a rate or a volatility that a step must not go across. */
const JUMP = 2e-3;

const lessText = (payoff: string, less: number, p: Parameters): string =>
  less === 0 ? payoff : `${payoff} - ${p.add(less)}`;

const strikeOf = (payoff: Payoff): number | undefined =>
  payoff.kind === "expression" ? payoff.kinks[0] : payoff.strike;

/** What a barrier pays, as worth at t. Rates are deterministic where there is a rebate. */
function rebateText({ rebate, paysAtExpiry }: Level, { rates, expiry }: Terms, p: Parameters): string {
  const paid = p.add(rebate, "rebate");
  return paysAtExpiry && rebate !== 0 ? `${paid}*exp(-${p.integral(rates, expiry, "r")})` : paid;
}

function exerciseOf(
  exercise: Terms["exercise"],
  expiry: number,
  payoff: string,
  p: Parameters,
): readonly Condition<string>[] {
  if (exercise.kind === "european") return [];
  if (exercise.kind === "american") return [{ kind: "exercise", payoff }];
  const inside = exercise.times.filter((time) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE));
  return inside.length === 0 ? [] : [{ kind: "exercise", payoff, at: inside.map((time) => p.add(time, "t")) }];
}

function knockOutOf(level: Level, names: readonly string[], value: string, p: Parameters): Condition<string> {
  const edge = { [level.side === "up" ? "above" : "below"]: p.add(level.level, "H") };
  const when =
    level.times === undefined
      ? { from: p.add(level.from, "t"), until: p.add(level.to, "t") }
      : { at: level.times.filter((time) => time > 0).map((time) => p.add(time, "t")) };
  return { kind: "knock-out", axis: names[level.asset], ...edge, value, ...when };
}

/** Dividends before expiry: the spot falls, and never below the end of its axis. */
function jumpsOf(
  { assets, expiry }: Terms,
  names: readonly string[],
  axes: Readonly<Record<string, { readonly from: number | string }>>,
  p: Parameters,
): readonly Condition<string>[] {
  return assets.flatMap(({ underlying }, i) =>
    underlying.dividends.discrete
      .filter(({ time }) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE))
      .map(({ time, cash, proportional }) => ({
        kind: "jump" as const,
        axis: names[i],
        at: [p.add(time, "t")],
        to: `max(${names[i]}*${p.add(1 - proportional)} - ${p.add(cash)}, ${axes[names[i]].from})`,
      })),
  );
}

/** Where the short rate or a volatility jumps the time grid has a date, at which nothing moves. */
function restartsOf({ assets, rates, expiry }: Terms, name: string, p: Parameters): readonly Condition<string>[] {
  const curves = [
    rates,
    ...assets.flatMap(({ volatility }) => (volatility.kind === "deterministic" ? [volatility.sigma] : [])),
  ];
  const dates = new Set(
    curves.flatMap(({ times, values }) => times.filter((_, i) => Math.abs(values[i + 1] - values[i]) > JUMP)),
  );
  const at = [...dates].filter((time) => time > SAME_DATE * expiry && time < expiry * (1 - SAME_DATE));
  if (at.length === 0) return [];
  return [{ kind: "jump", axis: name, at: at.toSorted((a, b) => a - b).map((time) => p.add(time, "t")), to: name }];
}

/** Spots as the payoff at expiry sees them: after a dividend of that day. */
function atExpiry({ assets, expiry }: Terms, names: readonly string[], p: Parameters): readonly string[] {
  return assets.map(({ underlying }, i) =>
    underlying.dividends.discrete
      .filter(({ time }) => time >= expiry * (1 - SAME_DATE) && time <= expiry)
      .reduce(
        (text, { cash, proportional }) => `max(${text}*${p.add(1 - proportional)} - ${p.add(cash)}, 0)`,
        names[i],
      ),
  );
}

/** What is paid on exercise, as a formula of the spots, each of which is a formula. */
export function payoffText(payoff: Payoff, spots: readonly string[], p: Parameters): string {
  if (payoff.kind === "expression") {
    if (spots.length === 1) return `(${renamed(payoff.expression, "S", spots[0])})`;
    return `(${spots.reduce((text, spot, i) => renamed(text, `S${i + 1}`, spot), payoff.expression)})`;
  }
  const K = p.add(payoff.strike, "K");
  const index = payoff.kind === "basket" ? indexText(payoff, spots, p) : spots[0];
  const [more, less] = payoff.right === "call" ? [index, K] : [K, index];
  if (payoff.kind !== "digital") return `max(${more} - ${less}, 0)`;
  const cash = p.add(payoff.cash, "cash");
  return `(${more} > ${less} ? ${cash} : ${more} == ${less} ? 0.5*${cash} : 0*${cash})`;
}

function indexText(
  { of, weights }: Extract<Payoff, { kind: "basket" }>,
  spots: readonly string[],
  p: Parameters,
): string {
  const w = weights.map((weight) => p.add(weight, "w"));
  if (of === "product") return `(${spots.map((spot, i) => `(${spot})^${w[i]}`).join("*")})`;
  const weighted = spots.map((spot, i) => `${w[i]}*${spot}`);
  return of === "sum" ? `(${weighted.join(" + ")})` : `${of}(${weighted.join(", ")})`;
}

/** What exercise pays at some spots, in numbers. */
export function payoffAt({ payoff, assets }: Terms, spots: readonly number[]): number {
  const p = new Parameters();
  const names = assets.map((_, i) => assetName(assets.length, i));
  const text = payoffText(payoff, names, p);
  return p.evaluate(text, Object.fromEntries(names.map((name, i) => [name, spots[i]])));
}
