/**
 * Kernel functions that draw one, two or four numbers of a distribution from a generator's state. The kernels of
 * `RandomGenerator` repeat them.
 */
import {
  fn,
  type FunctionOf,
  read,
  type ReadonlyNumbers,
  real,
  type RecordDeclaration,
  u32,
} from "../../kernel/index.ts";
import { drand48Next, Drand48State, drand48Word } from "./generators/drand48.ts";
import type { StateFields } from "./generators/generator.ts";
import { mrg32k3aNext, Mrg32k3aState, mrg32k3aWord } from "./generators/mrg32k3a.ts";
import { philox4x32, philoxNext, PhiloxState } from "./generators/philox.ts";
import type { Start } from "./generators/skip.ts";
import { xorwowNext, XorwowState, xorwowWord } from "./generators/xorwow.ts";
import { sobolNext, sobolScrambled, sobolStart, SobolState } from "./sobol/sobol.ts";
import type { RandomSpec } from "./spec.ts";
import { drand48Start, mrg32k3aStart, philoxStart, xorwowStart } from "./starts.ts";
import {
  boxMuller,
  mrg32k3aUniform,
  mrg32k3aUniform53,
  normal32,
  uniform24,
  uniform32,
  uniform48,
  uniform53,
} from "./uniforms.ts";

type Table = ReadonlyNumbers<"u32">;
type Of = { readonly state: StateFields; readonly table: Table };

/** The numbers of a draw, of which the first `NumberSource.group` are used, with the next state. */
type Drawn = { readonly state: StateFields } & Readonly<Record<"a" | "b" | "c" | "d", number>>;
/** A kernel function that draws numbers from a generator's state and returns the next state. */
export type Draw = FunctionOf<(of: Of) => Drawn>;

/**
 * The kernel functions that generate the numbers of a specification: `start` computes the first state of a work item,
 * and `draw` the next numbers.
 */
export interface NumberSource {
  readonly start: Start<StateFields>;
  readonly draw: Draw;
  /** The number of random numbers that a draw returns. */
  readonly group: 1 | 2 | 4;
  /** The number of generator steps that a draw takes. */
  readonly steps: 1 | 2 | 4;
}

/** A state of any generator. The kernel language infers its fields; TypeScript sees 32-bit words by name. */
type AnyState = RecordDeclaration<{ readonly [word: string]: typeof u32 }>;
type Next = FunctionOf<(of: { readonly state: StateFields }) => StateFields>;
type Word = FunctionOf<(of: { readonly state: StateFields }) => number>;
/** A number from one word, or from two. */
type FromWord = FunctionOf<(word: number) => number>;
type FromWords = FunctionOf<(first: number, second: number) => number>;
/** The next number of a sequence. */
type Take = FunctionOf<(of: Of) => { readonly state: StateFields; readonly u: number }>;

/** A generator whose steps give a word each. */
interface Sequence {
  readonly State: AnyState;
  readonly start: Start<StateFields>;
  readonly next: Next;
  readonly word: Word;
}

/** The only place where the type of a generator's state is given up. */
const erased = <T>(typed: unknown): T => typed as T;

const SEQUENCES = {
  drand48: { State: Drand48State, start: drand48Start, next: drand48Next, word: drand48Word },
  mrg32k3a: { State: Mrg32k3aState, start: mrg32k3aStart, next: mrg32k3aNext, word: mrg32k3aWord },
  xorwow: { State: XorwowState, start: xorwowStart, next: xorwowNext, word: xorwowWord },
} as const;

const word = fn({ name: "word", params: [u32], body: ([bits]) => bits });
const quantile = fn({ name: "quantile", params: [real], body: ([u], gpu) => gpu.inverseNormalCdf(u) });

const after1 = (uniform: FromWord): FromWord =>
  fn({
    name: "quantileOfWord",
    params: [u32],
    env: { uniform, quantile },
    body: ([bits], _gpu, { uniform, quantile }) => quantile(uniform(bits)),
  });
const after2 = (uniform: FromWords): FromWords =>
  fn({
    name: "quantileOfWords",
    params: [u32, u32],
    env: { uniform, quantile },
    body: ([first, second], _gpu, { uniform, quantile }) => quantile(uniform(first, second)),
  });

/** z − 1 of MRG32k3a as if it were 32 bits, of which it lacks the last 209. */
const below = (from: FromWord): FromWord =>
  fn({ name: "below", params: [u32], env: { from }, body: ([z], _gpu, { from }) => from((z - 1) >>> 0) });

const isInverse = ({ distribution, method }: RandomSpec): boolean => distribution === "normal" && method === "inverse";

/** A number from 32 bits. Normal numbers of f32 keep the tail's bits. */
function fromWord(spec: RandomSpec): FromWord {
  if (spec.distribution === "bits") return word;
  if (isInverse(spec)) return spec.bits === 24 ? after1(uniform24) : normal32;
  return spec.bits === 24 ? uniform24 : uniform32;
}

function fromMrg32k3a(spec: RandomSpec): FromWord {
  if (spec.distribution === "bits") return word;
  if (spec.bits === 24 || spec.precision === "f32") return below(fromWord(spec));
  return isInverse(spec) ? after1(mrg32k3aUniform) : mrg32k3aUniform;
}

const fromWords = (spec: RandomSpec): FromWords => {
  const uniform = spec.generator === "mrg32k3a" ? mrg32k3aUniform53 : uniform53;
  return isInverse(spec) ? after2(uniform) : uniform;
};

const takeOne = ({ State, next, word }: Sequence, from: FromWord): Take =>
  fn({
    name: "takeOne",
    params: { state: State, table: read(u32) },
    env: { next, word, from },
    body({ state }, _gpu, { next, word, from }) {
      const one = next({ state });
      return { state: one, u: from(word({ state: one })) };
    },
  });

const takeTwo = ({ State, next, word }: Sequence, from: FromWords): Take =>
  fn({
    name: "takeTwo",
    params: { state: State, table: read(u32) },
    env: { next, word, from },
    body({ state }, _gpu, { next, word, from }) {
      const one = next({ state });
      const two = next({ state: one });
      return { state: two, u: from(word({ state: one }), word({ state: two })) };
    },
  });

/** All 48 bits of drand48, where 53 are asked for. */
const takeWhole = (from: FromWords): Take =>
  erased(
    fn({
      name: "takeWhole",
      params: { state: Drand48State, table: read(u32) },
      env: { next: drand48Next, from },
      body({ state }, _gpu, { next, from }) {
        const one = next({ state });
        return { state: one, u: from(one.high, one.low) };
      },
    }),
  );

const takePoint = (from: FromWord, scramble: boolean): Take =>
  erased(
    fn({
      name: "takePoint",
      params: { state: SobolState, table: read(u32) },
      env: { next: sobolNext, scrambled: scramble ? sobolScrambled : undefined, from },
      body({ state, table }, _gpu, { next, scrambled, from }) {
        const bits = scrambled === undefined ? state.word : scrambled({ state, table });
        return { state: next({ state, table }), u: from(bits) };
      },
    }),
  );

/** A number a draw. */
const single = (State: AnyState, take: Take): Draw =>
  fn({
    name: "single",
    params: { state: State, table: read(u32) },
    env: { take },
    body({ state, table }, _gpu, { take }) {
      const one = take({ state, table });
      return { state: one.state, a: one.u, b: one.u, c: one.u, d: one.u };
    },
  });

/** Two normal numbers from two uniform ones. */
const pair = (State: AnyState, take: Take): Draw =>
  fn({
    name: "pair",
    params: { state: State, table: read(u32) },
    env: { take, boxMuller },
    body({ state, table }, _gpu, { take, boxMuller }) {
      const one = take({ state, table });
      const two = take({ state: one.state, table });
      const { a, b } = boxMuller(one.u, two.u);
      return { state: two.state, a, b, c: a, d: b };
    },
  });

/** The numbers of a counter's four words: four of a word each, or two of two words. */
function philoxDraw(spec: RandomSpec): Draw {
  const isPair = spec.distribution === "normal" && spec.method === "box-muller";
  const [from, whole] = spec.bits === 53 ? [undefined, fromWords(spec)] : [fromWord(spec), undefined];
  return erased(
    fn({
      name: "philoxDraw",
      params: { state: PhiloxState, table: read(u32) },
      env: { philox4x32, philoxNext, from, whole, boxMuller: isPair ? boxMuller : undefined },
      body({ state }, _gpu, { philox4x32, philoxNext, from, whole, boxMuller }) {
        const counter = { x: state.x, y: state.y, z: state.z, w: state.w };
        const { x, y, z, w } = philox4x32({ counter, key: { x: state.k0, y: state.k1 } });
        const next = philoxNext({ state });
        if (whole !== undefined) {
          const u = whole(x, y);
          const v = whole(z, w);
          if (boxMuller === undefined) return { state: next, a: u, b: v, c: u, d: v };
          const { a, b } = boxMuller(u, v);
          return { state: next, a, b, c: a, d: b };
        }
        if (boxMuller === undefined) return { state: next, a: from!(x), b: from!(y), c: from!(z), d: from!(w) };
        const one = boxMuller(from!(x), from!(y));
        const two = boxMuller(from!(z), from!(w));
        return { state: next, a: one.a, b: one.b, c: two.a, d: two.b };
      },
    }),
  );
}

/** Returns the kernel functions that generate the numbers of a specification. */
export function numberSourceOf(spec: RandomSpec): NumberSource {
  const { generator, bits } = spec;
  if (generator === "philox")
    return { start: erased(philoxStart), draw: philoxDraw(spec), group: bits === 53 ? 2 : 4, steps: 1 };
  if (generator === "sobol") {
    const take = takePoint(fromWord(spec), spec.scramble === "owen");
    return { start: erased(sobolStart), draw: single(erased(SobolState), take), group: 1, steps: 1 };
  }
  const sequence = erased<Sequence>(SEQUENCES[generator]);
  const [take, steps] = takeOf(spec, sequence);
  const { State, start } = sequence;
  if (spec.distribution === "normal" && spec.method === "box-muller")
    return { start, draw: pair(State, take), group: 2, steps: steps === 1 ? 2 : 4 };
  return { start, draw: single(State, take), group: 1, steps };
}

/** A number, and the steps that it takes. */
function takeOf(spec: RandomSpec, sequence: Sequence): readonly [Take, 1 | 2] {
  const { generator, bits, distribution } = spec;
  if (generator === "mrg32k3a" && (bits !== 53 || distribution === "bits"))
    return [takeOne(sequence, fromMrg32k3a(spec)), 1];
  if (bits !== 53 || distribution === "bits") return [takeOne(sequence, fromWord(spec)), 1];
  if (generator === "drand48") return [takeWhole(isInverse(spec) ? after2(uniform48) : uniform48), 1];
  return [takeTwo(sequence, fromWords(spec)), 2];
}
