/** Random scripts, and what they do as plain JavaScript: an oracle that knows neither the parser nor the kernels. */
import { compileScript, type DataKind, letters, type Program } from "../../src/market/scripts/index.ts";

/** What a path has: the oracle's names and values. */
interface World {
  S: number[];
  S0: number[];
  last: number[];
  a: number;
  b: number;
  flag: boolean;
  each: number[];
  k: number;
  weights: number[];
  list: number;
  t: number;
  paid: number;
  delay: number;
}

interface Term<T> {
  readonly text: string;
  readonly of: (world: World) => T;
}
/** A statement returns true where it has stopped the trade. */
type Step = Term<boolean>;

export interface RandomScript {
  readonly text: string;
  readonly program: Program;
  readonly assets: number;
  /** The numbers of each date, in the order of the program's columns. */
  readonly dates: readonly (readonly number[])[];
  readonly begin: readonly number[];
  readonly scalars: readonly number[];
  /** The spots of a path, [dates][assets]. */
  spots(path: number): readonly (readonly number[])[];
  /** What is carried at the end of a path. */
  oracle(spots: readonly (readonly number[])[]): readonly number[];
}

const KINDS: ReadonlyMap<string, DataKind> = new Map([
  ["first", "dates"],
  ["second", "dates"],
  ["later", "date"],
  ["k", "number"],
  ["weights", "each"],
  ["list1", "numbers"],
  ["list2", "numbers"],
]);

/** What is paid, whether the trade is alive, and the state a at first. */
const START = [0, 1, 0.5] as const;

/** Returns the script of a seed. */
export function randomScript(seed: number): RandomScript {
  let state = (seed * 2654435761) >>> 0;
  const unit = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state >>> 4) / 2 ** 28;
  };
  const below = (n: number): number => Math.floor(unit() * n);
  const assets = 1 + below(3);
  const names = letters(assets);
  const each = names.map((_, i) => i);

  const leaf = (list: string): Term<number> => {
    const i = below(assets);
    const at = names[i];
    const number = Number((unit() * 3 - 1).toFixed(2));
    const leaves: readonly Term<number>[] = [
      { text: `S.${at}`, of: ({ S }) => S[i] },
      { text: `S["${at}"]`, of: ({ S }) => S[i] },
      { text: `S0.${at}`, of: ({ S0 }) => S0[i] },
      { text: `last.${at}`, of: ({ last }) => last[i] },
      { text: "a", of: ({ a }) => a },
      { text: "state.b", of: ({ b }) => b },
      { text: `each.${at}`, of: (world) => world.each[i] },
      { text: "k", of: ({ k }) => k },
      { text: `weights.${at}`, of: ({ weights }) => weights[i] },
      { text: list, of: (world) => world.list },
      { text: "t", of: ({ t }) => t },
      { text: number < 0 ? `(${number})` : String(number), of: () => number },
      { text: "worst", of: ({ S, S0 }) => Math.min(...each.map((j) => S[j] / S0[j])) },
      { text: "best", of: ({ S, S0 }) => Math.max(...each.map((j) => S[j] / S0[j])) },
      {
        text: `rank(${i + 1})`,
        of: ({ S, S0 }) => each.map((j) => S[j] / S0[j]).toSorted((x, y) => y - x)[i],
      },
      {
        text: "sum(weights * S / S0)",
        of: ({ S, S0, weights }) => each.reduce((all, j) => all + (weights[j] * S[j]) / S0[j], 0),
      },
      { text: "mean(each + last)", of: (w) => each.reduce((all, j) => all + (w.each[j] + w.last[j]), 0) / assets },
      { text: "min(max(S - last, 0))", of: ({ S, last }) => Math.min(...each.map((j) => Math.max(S[j] - last[j], 0))) },
    ];
    return leaves[below(leaves.length)];
  };
  const number = (depth: number, list: string): Term<number> => {
    if (depth === 0) return leaf(list);
    const [x, y] = [number(depth - 1, list), number(depth - 1, list)];
    switch (below(8)) {
      case 0:
        return { text: `(${x.text} + ${y.text})`, of: (w) => x.of(w) + y.of(w) };
      case 1:
        return { text: `(${x.text} - ${y.text})`, of: (w) => x.of(w) - y.of(w) };
      case 2:
        return { text: `0.01 * (${x.text} * ${y.text})`, of: (w) => 0.01 * (x.of(w) * y.of(w)) };
      case 3:
        return { text: `max(${x.text}, ${y.text}, 1)`, of: (w) => Math.max(Math.max(x.of(w), y.of(w)), 1) };
      case 4:
        return { text: `Math.min(${x.text}, ${y.text})`, of: (w) => Math.min(x.of(w), y.of(w)) };
      case 5:
        return { text: `(${x.text}) / S0.A`, of: (w) => x.of(w) / w.S0[0] };
      case 6: {
        const test = truth(depth - 1, list);
        return { text: `(${test.text} ? ${x.text} : ${y.text})`, of: (w) => (test.of(w) ? x.of(w) : y.of(w)) };
      }
      default:
        return { text: `-abs(${x.text})`, of: (w) => -Math.abs(x.of(w)) };
    }
  };
  const truth = (depth: number, list: string): Term<boolean> => {
    const [x, y] = [number(Math.min(depth, 1), list), number(Math.min(depth, 1), list)];
    const rest = (): Term<boolean> => truth(depth - 1, list);
    switch (depth === 0 ? below(3) : below(6)) {
      case 0:
        return { text: `(${x.text} < ${y.text})`, of: (w) => x.of(w) < y.of(w) };
      case 1:
        return { text: `(${x.text} >= ${y.text})`, of: (w) => x.of(w) >= y.of(w) };
      case 2:
        return { text: "flag", of: ({ flag }) => flag };
      case 3: {
        const other = rest();
        return { text: `!${other.text}`, of: (w) => !other.of(w) };
      }
      case 4: {
        const [p, q] = [rest(), rest()];
        return { text: `(${p.text} && ${q.text})`, of: (w) => p.of(w) && q.of(w) };
      }
      default: {
        const [p, q] = [rest(), rest()];
        return { text: `(${p.text} || ${q.text})`, of: (w) => p.of(w) || q.of(w) };
      }
    }
  };
  const set = (text: string, run: (w: World) => void): Step => ({
    text,
    of(w) {
      run(w);
      return false;
    },
  });
  const statement = (depth: number, list: string): Step => {
    const x = number(2, list);
    switch (below(depth === 0 ? 8 : 12)) {
      case 0:
        return set(`a = ${x.text}`, (w) => void (w.a = x.of(w)));
      case 1:
        return set(`b += ${x.text}`, (w) => void (w.b += x.of(w)));
      case 2:
        return set(`pay(${x.text})`, (w) => void (w.paid += x.of(w)));
      case 3:
        return set(`pay(${x.text}, { on: later })`, (w) => void (w.paid += x.of(w) * w.delay));
      case 4: {
        const test = truth(1, list);
        return set(`flag = ${test.text}`, (w) => void (w.flag = test.of(w)));
      }
      case 5:
        return set("last = S", (w) => void (w.last = [...w.S]));
      case 6: {
        const i = below(assets);
        return set(`each.${names[i]} -= ${x.text}`, (w) => void (w.each[i] -= x.of(w)));
      }
      case 7:
        return set(
          "for (x in S) { each[x] = max(each[x], S[x] / S0[x]); last[x] += 0.5 * weights[x] }",
          ({ S, S0, last, weights, each: own }) => {
            for (const j of each) {
              own[j] = Math.max(own[j], S[j] / S0[j]);
              last[j] += 0.5 * weights[j];
            }
          },
        );
      case 8: {
        const test = truth(1, list);
        return {
          text: `if (${test.text}) { a += 1; stop() }`,
          of(w) {
            if (!test.of(w)) return false;
            w.a += 1;
            return true;
          },
        };
      }
      case 9:
        return set(`each = S / sum(S)`, (w) => {
          const all = w.S.reduce((sum, one) => sum + one, 0);
          w.each = w.S.map((one) => one / all);
        });
      default: {
        const test = truth(1, list);
        const [yes, no] = [block(depth - 1, list), block(depth - 1, list)];
        return {
          text: `if (${test.text}) {\n${yes.text}\n} else {\n${no.text}\n}`,
          of: (w) => (test.of(w) ? yes.of(w) : no.of(w)),
        };
      }
    }
  };
  const block = (depth: number, list: string): Step => {
    const steps = Array.from({ length: 1 + below(3) }, () => statement(depth, list));
    // `some` ends with the first that stops.
    return {
      text: steps.map(({ text }) => text).join(below(2) === 0 ? "\n" : "; "),
      of: (w) => steps.some((one) => one.of(w)),
    };
  };

  const bodies = ["list1", "list2"].map((list) => block(2, list));
  const text = bodies.map((one) => one.text).join("\n---\n");
  const program = compileScript(
    {
      state: { a: 0.5, b: "k", flag: true, each: { each: 1 } },
      events: bodies.map((one, k) => ({ on: k === 0 ? "first" : "second", do: one.text })),
    },
    names,
    KINDS,
    `random ${seed}`,
  );
  const DATES = 4;
  const happens = Array.from({ length: DATES }, () => [below(3) > 0, below(3) > 0]);
  const lists = Array.from({ length: DATES }, () => [unit() * 2, unit() * 2]);
  const [k, delay] = [unit(), 0.9 + 0.1 * unit()];
  const weights = each.map(() => unit());
  const start = each.map(() => 0.8 + 0.4 * unit());
  const dates = happens.map((on, date) =>
    program.columns.map((column) => {
      switch (column.kind) {
        case "happens":
          return column.event === "start" ? Number(date === 0) : Number(on[column.event]);
        case "time":
          return date + 1;
        case "delay":
          return delay;
        default:
          return lists[date][column.event];
      }
    }),
  );
  const tail = (of: (i: number) => number): readonly number[] => each.map(of);
  const begin = [
    ...START,
    k,
    1,
    ...tail(() => 1),
    ...(program.initialAt === undefined ? [] : start),
    ...(program.lastAt === undefined ? [] : start),
  ];
  const scalars = program.scalars.map(({ name, part }) => (name === "k" ? k : weights[part]));
  return {
    text,
    program,
    assets,
    dates,
    begin,
    scalars,
    spots: () => Array.from({ length: DATES }, () => each.map(() => 0.5 + unit())),
    oracle(spots) {
      const w: World = {
        S: [],
        S0: [...start],
        last: [...start],
        a: START[2],
        b: k,
        flag: true,
        each: each.map(() => 1),
        k,
        weights,
        list: 0,
        t: 0,
        paid: 0,
        delay,
      };
      let isAlive = true;
      spots.forEach((now, date) => {
        w.S = [...now];
        w.t = date + 1;
        if (date === 0) [w.S0, w.last] = [[...now], [...now]];
        bodies.forEach((body, event) => {
          if (!isAlive || !happens[date][event]) return;
          w.list = lists[date][event];
          if (body.of(w)) isAlive = false;
        });
      });
      return [
        w.paid,
        Number(isAlive),
        w.a,
        w.b,
        Number(w.flag),
        ...w.each,
        ...(program.initialAt === undefined ? [] : w.S0),
        ...(program.lastAt === undefined ? [] : w.last),
      ];
    },
  };
}
