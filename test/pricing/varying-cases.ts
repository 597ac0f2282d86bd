/** Random options under random volatilities of time, as trades of a book and as terms of the independent solution. */
import { type Piece, varianceOver, type VaryingTerms } from "../support/volatility-in-time.ts";
import type { Random } from "../../tools/properties/random.ts";

/** A volatility as a book has it, and piece by piece. */
interface Varying {
  readonly volatility: object;
  readonly pieces: readonly Piece[];
}

export type VaryingKind = "european" | "knock-out" | "knock-in" | "american" | "bermudan";

export interface VaryingCase {
  readonly kind: VaryingKind;
  readonly trade: object;
  readonly underlying: object;
  readonly terms: VaryingTerms;
}

const EVENT = 3 / 365;

const line =
  (from: readonly [number, number], to: readonly [number, number]) =>
  (t: number): number =>
    from[1] + ((to[1] - from[1]) * (t - from[0])) / (to[0] - from[0]);

/** Pieces between dates with their values, constant before the first and after the last, as surfaces are. */
function lines(nodes: readonly (readonly [number, number])[], expiry: number): readonly Piece[] {
  const inner = nodes.slice(1).map((node, i): Piece => ({ end: node[0], at: line(nodes[i], node) }));
  return [{ end: nodes[0][0], at: () => nodes[0][1] }, ...inner, { end: expiry, at: () => nodes[nodes.length - 1][1] }];
}

const surface = (nodes: readonly (readonly [number, number])[], expiry: number): Varying => ({
  volatility: {
    surface: { times: nodes.map(([t]) => t), spots: [100], volatility: nodes.map(([, sigma]) => [sigma]) },
  },
  pieces: lines(nodes, expiry),
});

/** The volatilities of `volatilityInTime`, one after another. */
export const SHAPES = [
  "steps",
  "surface",
  "ramp",
  "decay",
  "formula",
  "event",
  "event on a surface",
  "small step and event",
  "days of the week",
  "spike",
] as const;

function volatilityInTime(random: Random, expiry: number, shape: (typeof SHAPES)[number]): Varying {
  const high = random.uniform(0.2, 1);
  const low = Math.max(high / random.logUniform(2, 50), 0.01);
  const [a, b] = random.next() < 0.5 ? [high, low] : [low, high];
  const date = expiry * random.uniform(0.05, 0.9);
  const base = random.uniform(0.1, 0.3);
  const end = Math.min(date + EVENT, 0.99 * expiry);
  const halves: readonly Piece[] = [
    { end: date, at: () => a },
    { end: expiry, at: () => b },
  ];
  switch (shape) {
    case "steps": {
      const implied = (time: number): number => Math.sqrt(varianceOver({ pieces: halves }, 0, time) / time);
      const termStructure = [date, expiry].map((time) => ({ date: time, volatility: implied(time) }));
      return { volatility: { termStructure }, pieces: halves };
    }
    case "surface":
      return surface([[0.99 * date, a], [date, b]], expiry); // prettier-ignore
    case "ramp":
      return surface([[0, a], [expiry, b]], expiry); // prettier-ignore
    case "decay": {
      const speed = random.uniform(1, 10) / expiry;
      const at = (t: number): number => high * Math.exp(-speed * t) + low;
      return { volatility: { local: `${high}*exp(-${speed}*t) + ${low}` }, pieces: [{ end: expiry, at }] };
    }
    case "formula":
      return { volatility: { local: `t < ${date} ? ${a} : ${b}` }, pieces: halves };
    case "event": {
      const local = `t > ${date} && t <= ${end} ? 1.6 : ${base}`;
      const pieces = [date, end, expiry].map((to, i): Piece => ({ end: to, at: () => (i === 1 ? 1.6 : base) }));
      return { volatility: { local }, pieces };
    }
    case "event on a surface":
      return surface([[date, base], [date + 5e-4, 1.6], [end, 1.6], [end + 5e-4, base]], expiry); // prettier-ignore
    case "small step and event": {
      const later = base * (1 + random.logUniform(1e-4, 0.05));
      const values = [base, later, 1, later];
      const dates = [0.8 * date, date, end, expiry];
      const local = `t < ${dates[0]} ? ${base} : (t >= ${date} && t < ${end} ? 1 : ${later})`;
      return { volatility: { local }, pieces: dates.map((to, i) => ({ end: to, at: () => values[i] })) };
    }
    case "days of the week": {
      const day = random.integer(7);
      const ends = [day, day + 1].flatMap((first) => Array.from({ length: 53 * 4 }, (_, k) => (7 * k + first) / 365));
      const inside = ends.filter((time) => time > 0 && time < expiry).sort((x, y) => x - y);
      const pieces = [...inside, expiry].map((to, i): Piece => {
        const middle = 0.5 * (to + (i === 0 ? 0 : inside[i - 1]));
        return { end: to, at: () => (Math.floor(365 * middle) % 7 === day ? 0.6 : base) };
      });
      return { volatility: { local: `floor(t*365)%7 == ${day} ? 0.6 : ${base}` }, pieces };
    }
    case "spike": {
      const at = (t: number): number => base + 2 * Math.exp(-(((t - date) / 0.004) ** 2));
      const ends = [date - 0.02, date - 0.005, date + 0.005, date + 0.02].filter((t) => t > 0 && t < expiry);
      const local = `${base} + 2*exp(-(((t - ${date})/0.004)**2))`;
      return { volatility: { local }, pieces: [...ends, expiry].map((to) => ({ end: to, at })) };
    }
    default:
      return shape satisfies never;
  }
}

/** Returns case `index` of a kind: its volatility's shape is the next one with each index. */
export function varyingCase(random: Random, kind: VaryingKind, index: number): VaryingCase {
  const expiry = random.uniform(0.2, 3);
  const { volatility, pieces } = volatilityInTime(random, expiry, SHAPES[index % SHAPES.length]);
  const [spot, rate, dividendYield] = [100, random.uniform(0, 0.08), random.uniform(0, 0.04)];
  const deviation = Math.sqrt(varianceOver({ pieces }, 0, expiry));
  const strike = spot * Math.exp(deviation * random.uniform(-1, 1));
  const right = random.next() < 0.5 ? "call" : "put";
  const side = random.next() < 0.5 ? "up" : "down";
  const level = spot * Math.exp((side === "up" ? 1 : -1) * deviation * random.uniform(0.3, 2.5));
  const dates = [0.3, 0.65].map((part) => part * expiry);
  const exercise = kind === "american" ? "american" : kind === "bermudan" ? dates : undefined;
  const hasBarrier = kind === "knock-out" || kind === "knock-in";
  return {
    kind,
    trade: {
      payoff: right,
      strike,
      expiry,
      ...(exercise === undefined ? {} : { exercise }),
      ...(hasBarrier ? { barriers: [{ type: `${side}-and-${kind === "knock-in" ? "in" : "out"}`, level }] } : {}),
    },
    underlying: { spot, volatility, dividends: { yield: dividendYield }, rate },
    terms: {
      right,
      spot,
      strike,
      expiry,
      rate,
      dividendYield,
      pieces,
      ...(exercise === undefined ? {} : { exercise }),
      ...(hasBarrier ? { barrier: { side, level } } : {}),
    },
  };
}
