/** What the front end is fuzzed with: token soup, mutations of kernels, random syntax. Each from a seeded generator. */
import { bool, i32, type Params, read, real, u32, write } from "../../src/kernel/index.ts";
import type { Environment } from "../../src/kernel/language.ts";
import { cases } from "../conformance/cases/index.ts";
import { functions } from "../conformance/programs/functions.ts";

export const PARAMS = {
  n: i32,
  k: u32,
  x: real,
  flag: bool,
  u: read(real),
  v: read(i32),
  out: write(real),
  counts: write(i32),
};
export const ENV = { SIZE: 4, SCALE: 0.5, MODE: "fast", ON: true, ...functions };

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 1;
  }

  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)];
  }

  many(least: number, most: number, make: () => string, separator: string): string {
    return Array.from({ length: least + this.below(most - least + 1) }, make).join(separator);
  }
}

const TOKENS =
  "( ) { } [ ] ; , . => ? : = == === != !== < <= > >= + - * / % ** ++ -- += -= & | ^ ~ << >> >>> && || ! ?? ?. ... " +
  "if else for while do break continue return const let var function yield async await new this typeof void null true false in of " +
  "switch case default try catch throw class super delete import undefined NaN Infinity Math gpu n k x flag u v out counts i j t " +
  "SIZE SCALE MODE bound pair 0 1 2 -1 0.5 1e400 4294967296 10n 'f32' `t` /r/ Math.exp Math.max gpu.globalId() gpu.i32 gpu.privateReal(4) " +
  "gpu.atomicAdd gpu.shuffleDown gpu.precision out[0] u[i] #p @ \\ \u2028 \n";
export const WORDS = TOKENS.split(" ");

const HEAD =
  "({ n, k, x, flag, u, v, out, counts }, gpu, { SIZE, SCALE, MODE, ON, bound, choose, pair, search, stir })";

/** Nothing but tokens; half of them inside a proper function. */
export function soup(random: Random): string {
  const tokens = random.many(1, 25, () => random.pick(WORDS), " ");
  return random.below(2) === 0 ? tokens : `${HEAD} => { const i = gpu.globalId(); ${tokens} }`;
}

const SEEDS = cases
  .filter(({ kernel }) => kernel.source.length < 700)
  .map(({ kernel: { source, params, env } }) => ({ params, env, tokens: source.match(/\w+|\s+|[^\w\s]/g)! }));

/** A kernel of the conformance suite with a few tokens dropped, doubled, swapped or replaced. */
export function mutated(random: Random): { source: string; params: Params; env: Environment } {
  const { params, env, tokens } = random.pick(SEEDS);
  const changed = [...tokens];
  for (let edits = 1 + random.below(3); edits > 0; edits--) {
    const at = random.below(changed.length);
    const other = random.below(changed.length);
    const edit = random.below(4);
    if (edit === 0) changed.splice(at, 1 + random.below(3));
    else if (edit === 1) changed.splice(at, 0, changed[other]);
    else if (edit === 2) [changed[at], changed[other]] = [changed[other], changed[at]];
    else changed[at] = random.pick(WORDS);
  }
  return { source: changed.join(""), params, env };
}

/** Expressions and statements that parse, with no care for types or for what the language has. */
export function expression(random: Random, depth: number): string {
  const inner = (): string => expression(random, depth - 1);
  if (depth <= 0)
    return random.pick([
      "n",
      "k",
      "x",
      "flag",
      "u",
      "out",
      "i",
      "j",
      "0",
      "1",
      "-1",
      "0.5",
      "true",
      "SIZE",
      "MODE",
      "gpu",
      "pair",
      "'s'",
      "nope",
    ]);
  switch (random.below(16)) {
    case 0:
    case 1:
    case 2:
      return `(${inner()} ${random.pick(["+", "-", "*", "/", "%", "**", "&", "|", "^", "<<", ">>", ">>>", "<", "<=", "===", "!=", "&&", "||", "??", "in"])} ${inner()})`;
    case 3:
      return `(${random.pick(["-", "!", "~", "+", "void ", "typeof ", "delete "])}${inner()})`;
    case 4:
      return `(${inner()} ? ${inner()} : ${inner()})`;
    case 5:
      return `${random.pick(["u", "v", "out", "counts", "t", "x"])}[${inner()}]`;
    case 6:
      return `Math.${random.pick(["exp", "sqrt", "max", "floor", "abs", "imul", "pow", "nope", "constructor"])}(${random.many(0, 3, inner, ", ")})`;
    case 7:
      return `gpu.${random.pick(["real", "i32", "u32", "ldexp", "popcount", "globalId", "privateReal", "atomicAdd", "shuffle", "toString", "__proto__"])}(${random.many(0, 3, inner, ", ")})`;
    case 8:
      return `${random.pick(["bound", "choose", "pair", "search", "stir", "SIZE"])}(${random.many(0, 3, inner, ", ")})`;
    case 9:
      return `(${random.pick(["i", "j", "x", "t", "out[0]", "counts[n]", "n.a", "[i]", "{ i }"])} ${random.pick(["=", "+=", ">>>=", "**=", "||="])} ${inner()})`;
    case 10:
      return `(${random.pick(["i", "j", "out[n]", "n"])}${random.pick(["++", "--"])})`;
    case 11:
      return `${inner()}.${random.pick(["a", "half", "length", "constructor", "x"])}`;
    case 12:
      return `(${inner()}, ${inner()})`;
    case 13:
      return random.pick([
        "[1, 2]",
        "{}",
        "() => 1",
        "new x()",
        "`a${x}`",
        "import('a')",
        "class {}",
        "this",
        "/a/g",
        "x?.y",
        "...u",
      ]);
    case 14:
      return `(${random.pick(["yield", "yield*", "await"])} ${inner()})`;
    default:
      return inner();
  }
}

function statement(random: Random, depth: number): string {
  const e = (): string => expression(random, 1 + random.below(3));
  const inner = (): string => statement(random, depth - 1);
  if (depth <= 0) return `${e()};`;
  switch (random.below(14)) {
    case 0:
      return `${random.pick(["const", "let", "var"])} ${random.pick(["i", "j", "t", "{ a, half }", "[a]", "n"])} = ${e()};`;
    case 1:
      return `if (${e()}) ${inner()} else ${inner()}`;
    case 2:
      return `if (${e()}) { ${inner()} return; }`;
    case 3:
      return `for (let j = ${e()}; ${e()}; j++) { ${inner()} }`;
    case 4:
      return `for (let j = 0; j < ${random.pick(["3", "n", "SIZE", "40", "x"])}; j += ${random.pick(["1", "2", "0", "-1", "n"])}) { ${inner()} }`;
    case 5:
      return `while (${e()}) { ${inner()} ${random.pick(["break;", "continue;", ""])} }`;
    case 6:
      return `do { ${inner()} } while (${e()});`;
    case 7:
      return `${random.pick(["out", "counts", "t", "u"])}[${e()}] = ${e()};`;
    case 8:
      return random.pick([
        "break;",
        "continue;",
        "return;",
        "return x;",
        "yield;",
        "debugger;",
        ";",
        "let q;",
        "var w, q = 1;",
      ]);
    case 9:
      return `switch (${e()}) { case ${e()}: ${inner()} }`;
    case 10:
      return `try { ${inner()} } finally { ${inner()} }`;
    case 11:
      return `for (const q ${random.pick(["of", "in"])} ${e()}) ${inner()}`;
    case 12:
      return `{ ${inner()} ${inner()} }`;
    default:
      return `${e()};`;
  }
}

export function generated(random: Random): string {
  const body = `{ ${random.many(1, 4, () => statement(random, random.below(3)), " ")} }`;
  return random.below(3) === 0 ? `function* ${HEAD} ${body}` : `${HEAD} => ${body}`;
}
