/**
 * Random kernels as source text. They are well typed, stay in bounds, end, and initialise what they read; and they mean
 * the same as plain JavaScript in f64, so every integer operation that may overflow is wrapped as JavaScript code would
 * (`| 0`, `>>> 0`, `Math.imul`). Reals stay bounded: `bound` keeps whatever is assigned within (−½, ½).
 */
import fc from "fast-check";

type Text = fc.Arbitrary<string>;

/**
 * What reals may decide. With "nothing", results depend on rounding continuously, so that devices that contract agree.
 */
export type Decisions = "anything" | "nothing";

const oneOf = (...texts: readonly string[]): Text => fc.constantFrom(...texts);

/** Joins a template's text and parts. */
function text(strings: TemplateStringsArray, ...parts: readonly Text[]): Text {
  return fc.tuple(...parts).map((values) => strings.reduce((joined, next, k) => joined + values[k - 1] + next));
}

const REALS = oneOf("r0", "r1", "r2");
const INTS = oneOf("k0", "k1", "k2");
const SMALL = oneOf("m0", "m1");
const WORDS = oneOf("w0", "w1");
const BOOLS = oneOf("b0", "b1");

interface Grammar {
  readonly real: string;
  readonly int: string;
  readonly word: string;
  readonly bool: string;
  readonly statement: string;
  readonly block: string;
  readonly loopBody: string;
}

function reals(tie: (name: keyof Grammar) => Text, decisions: Decisions): fc.WeightedArbitrary<string>[] {
  const [real, int, bool] = [tie("real"), tie("int"), tie("bool")];
  const continuous = [
    { weight: 4, arbitrary: REALS },
    {
      weight: 3,
      arbitrary: oneOf(
        "x",
        "0.5",
        "1.25",
        "-0.75",
        "2",
        "Math.PI",
        "w[i]",
        "u[i]",
        "p[0]",
        "p[3]",
        "SCALE",
        "kept.r",
        "held.kept.p[1]",
        "state.r",
      ),
    },
    { weight: 4, arbitrary: text`(${real} ${oneOf("+", "-", "*")} ${real})` },
    { weight: 1, arbitrary: text`(${real} / (1 + Math.abs(${real})))` },
    { weight: 1, arbitrary: text`u[${int} & 31]` },
    { weight: 1, arbitrary: text`p[${int} & 3]` },
    { weight: 1, arbitrary: text`(- ${real})` },
    { weight: 1, arbitrary: text`(${bool} ? ${real} : ${real})` },
    { weight: 1, arbitrary: text`(${bool} ? ${oneOf("1 : 0", "0 : 1", "0.5 : 0")})` },
    { weight: 1, arbitrary: text`gpu.real(${int} & 15)` },
    { weight: 1, arbitrary: text`choose(${int}, ${real}, ${real})` },
    { weight: 1, arbitrary: text`(${REALS} = bound(${real}))` },
    { weight: 1, arbitrary: text`(w[i] = bound(${real}))` },
    { weight: 1, arbitrary: text`(kept.r = bound(${real}))` },
    { weight: 1, arbitrary: text`mix({ of: ${oneOf("state", "{ r: 0.25, k: k1 }")}, by: ${int}, t: o }).r` },
    { weight: 1, arbitrary: text`(w[i] ${oneOf("*=", "=", "-=")} 0.5)` },
    { weight: 1, arbitrary: text`Math.${oneOf("min", "max")}(${real}, ${oneOf("0.25", "-0.5")})` },
    { weight: 1, arbitrary: text`((${real}) ** ${oneOf("1", "2")} * 0.125)` },
  ];
  if (decisions === "nothing") return continuous;
  return [
    ...continuous,
    { weight: 1, arbitrary: text`Math.sqrt(Math.abs(${real}))` },
    { weight: 1, arbitrary: text`Math.${oneOf("floor", "ceil", "trunc")}(${real})` },
    { weight: 1, arbitrary: text`gpu.nearest(${real})` },
    { weight: 1, arbitrary: text`gpu.reciprocal(1 + Math.abs(${real}))` },
    { weight: 1, arbitrary: text`gpu.copysign(${real}, ${real})` },
    { weight: 1, arbitrary: text`gpu.normalCdf(bound(${real}))` },
    { weight: 1, arbitrary: text`(${real} % 0.75)` },
  ];
}

function ints(tie: (name: keyof Grammar) => Text, decisions: Decisions): fc.WeightedArbitrary<string>[] {
  const [int, word, real, bool] = [tie("int"), tie("word"), tie("real"), tie("bool")];
  const exact = [
    { weight: 4, arbitrary: INTS },
    { weight: 2, arbitrary: SMALL },
    { weight: 3, arbitrary: oneOf("i", "n", "v[i]", "3", "-7", "0", "1000003", "q[1]", "COUNT", "kept.k", "state.k") },
    { weight: 4, arbitrary: text`((${int} ${oneOf("+", "-")} ${int}) | 0)` },
    { weight: 1, arbitrary: text`Math.imul(${int}, ${int})` },
    { weight: 1, arbitrary: text`((${int} / ${int}) | 0)` },
    { weight: 1, arbitrary: text`((${int} % ${oneOf("7", "-3", "16")}) | 0)` },
    { weight: 2, arbitrary: text`(${int} ${oneOf("&", "|", "^", "<<", ">>")} ${int})` },
    { weight: 1, arbitrary: text`(kept.k ^= ${int})` },
    { weight: 1, arbitrary: text`(~${int})` },
    { weight: 1, arbitrary: text`(- ${int} | 0)` },
    { weight: 1, arbitrary: text`(${bool} ? ${int} : ${int})` },
    { weight: 1, arbitrary: text`(${bool} ? ${oneOf("1 : 0", "0 : 1", "2 : 0")})` },
    { weight: 1, arbitrary: text`(k1 ${oneOf("&&", "||")} ${int})` },
    { weight: 1, arbitrary: text`v[${int} & 31]` },
    { weight: 1, arbitrary: text`q[${int} & 3]` },
    { weight: 1, arbitrary: text`(${word} | 0)` },
    { weight: 1, arbitrary: text`Math.${oneOf("min", "max")}(${int}, ${int})` },
    { weight: 1, arbitrary: text`Math.clz32(${int})` },
    { weight: 1, arbitrary: text`gpu.popcount(${int})` },
    { weight: 1, arbitrary: text`search(${int}, ${int})` },
    { weight: 1, arbitrary: text`gpu.i32(${bool})` },
    { weight: 1, arbitrary: text`(${INTS} = ${int})` },
    { weight: 1, arbitrary: text`(q[${int} & 3] = ${int})` },
    { weight: 1, arbitrary: text`(q[${oneOf("1", "k1 & 3")}] ^= ${int})` },
    { weight: 1, arbitrary: text`${SMALL}${oneOf("++", "--")}` },
    { weight: 1, arbitrary: text`(${oneOf("++", "--")}${SMALL})` },
  ];
  if (decisions === "nothing") return exact;
  return [
    ...exact,
    { weight: 1, arbitrary: text`gpu.i32(bound(${real}) * 64)` },
    { weight: 1, arbitrary: text`((bound(${real}) * 64 | 0) ${oneOf("&", "|", "^", ">>")} ${int})` },
  ];
}

function wordsOf(tie: (name: keyof Grammar) => Text): fc.WeightedArbitrary<string>[] {
  const [int, word, bool] = [tie("int"), tie("word"), tie("bool")];
  return [
    { weight: 4, arbitrary: WORDS },
    { weight: 1, arbitrary: oneOf("0x9e3779b9", "1", "0xffffffff") },
    { weight: 2, arbitrary: text`((${word} ${oneOf("+", "-", "^", "&", "|", "<<")} ${word}) >>> 0)` },
    { weight: 1, arbitrary: text`(Math.imul(${word}, ${word}) >>> 0)` },
    { weight: 1, arbitrary: text`gpu.mulHigh(${word}, ${word})` },
    { weight: 1, arbitrary: text`((${word} / ${word}) >>> 0)` },
    { weight: 1, arbitrary: text`(${word} % 1000)` },
    { weight: 1, arbitrary: text`(${word} >>> (${int} & 31))` },
    { weight: 1, arbitrary: text`(${int} >>> 0)` },
    { weight: 1, arbitrary: text`(${bool} ? ${word} : ${word})` },
    { weight: 1, arbitrary: text`Math.${oneOf("min", "max")}(${word}, ${word})` },
  ];
}

function bools(tie: (name: keyof Grammar) => Text, decisions: Decisions): fc.WeightedArbitrary<string>[] {
  const [int, word, real, bool] = [tie("int"), tie("word"), tie("real"), tie("bool")];
  const compare = oneOf("<", "<=", ">", ">=", "===", "!==");
  const exact = [
    { weight: 3, arbitrary: BOOLS },
    { weight: 4, arbitrary: text`(${int} ${compare} ${int})` },
    { weight: 1, arbitrary: text`(${word} ${compare} ${word})` },
    { weight: 1, arbitrary: text`(${bool} ${oneOf("&&", "||", "===", "!==")} ${bool})` },
    { weight: 1, arbitrary: text`(!${bool})` },
    { weight: 1, arbitrary: text`pair(0.5, ${int}).odd` },
    { weight: 1, arbitrary: oneOf("true", "false", "FLAG", "yes") },
    { weight: 1, arbitrary: text`(i + (${int} & 7) < 32 && u[i + 1] === u[i + 1])` },
  ];
  return decisions === "nothing" ? exact : [...exact, { weight: 2, arbitrary: text`(${real} ${compare} ${real})` }];
}

function statements(tie: (name: keyof Grammar) => Text): fc.WeightedArbitrary<string>[] {
  const [real, int, word, bool] = [tie("real"), tie("int"), tie("word"), tie("bool")];
  const [block, loopBody] = [tie("block"), tie("loopBody")];
  const trips = fc.oneof(
    { weight: 3, arbitrary: oneOf("1", "3", "5", "COUNT") },
    { weight: 1, arbitrary: text`(${int} & 3)` },
  );
  return [
    { weight: 4, arbitrary: text`${REALS} = bound(${real});` },
    {
      weight: 2,
      arbitrary: text`${REALS} ${oneOf("+=", "-=", "*=")} bound(${real}); r0 = bound(r0); r1 = bound(r1); r2 = bound(r2);`,
    },
    { weight: 4, arbitrary: text`${INTS} = ${int};` },
    { weight: 1, arbitrary: text`${INTS} ${oneOf("&=", "|=", "^=", "<<=", ">>=")} ${int};` },
    { weight: 1, arbitrary: text`${SMALL} = ${int} & 255;` },
    { weight: 1, arbitrary: text`${SMALL} += ${int} & 7;` },
    { weight: 2, arbitrary: text`${WORDS} = ${word};` },
    { weight: 2, arbitrary: text`${BOOLS} = ${bool};` },
    { weight: 1, arbitrary: text`p[${int} & 3] = bound(${real});` },
    { weight: 1, arbitrary: text`q[${int} & 3] = ${int};` },
    { weight: 1, arbitrary: text`q[${oneOf("0", "2")}] ^= ${int};` },
    { weight: 1, arbitrary: text`p[${int} & 3] *= bound(${real});` },
    { weight: 1, arbitrary: text`w[i] = bound(${real});` },
    { weight: 1, arbitrary: text`out[i] = bound(${real});` },
    { weight: 1, arbitrary: text`stir(p, ${int}, ${bool});` },
    { weight: 1, arbitrary: text`if (${bool}) stir(p, k1, b1); else stir(o, k1, b1);` },
    {
      weight: 1,
      arbitrary: text`if (${bool}) swirl({ at: { t: kept.p, k: k1 }, up: b1 }); else swirl({ at: { t: o, k: k1 }, up: b1 });`,
    },
    { weight: 2, arbitrary: text`kept.r = bound(${real});` },
    { weight: 1, arbitrary: text`kept.k = ${int};` },
    { weight: 1, arbitrary: text`state = { r: bound(${real}), k: ${int} };` },
    { weight: 1, arbitrary: text`state = mix({ of: state, by: ${int}, t: held.kept.p });` },
    { weight: 1, arbitrary: text`state = ${bool} ? { k: ${int}, r: 0.25 } : mix({ t: o, by: k2, of: state });` },
    { weight: 1, arbitrary: text`{ const { r, k } = state; ${block} r0 = r; k0 = k; }` },
    { weight: 1, arbitrary: text`{ const before = state; ${block} r1 = bound(before.r - state.r); }` },
    {
      weight: 1,
      arbitrary: text`{ let next; if (${bool}) next = { r: r0, k: k1 }; else next = state; state = next; }`,
    },
    { weight: 1, arbitrary: text`${oneOf("b0 = b0 ||", "b1 = b1 &&", "if (!b0) b0 =", "if (b1) b1 =")} ${bool};` },
    { weight: 1, arbitrary: text`${oneOf("k0 = k0 ||", "if (!k1) k1 =", "if (k0) k0 =", "k1 = k1 ? k1 :")} ${int};` },
    {
      weight: 1,
      arbitrary: text`{ const { half, odd } = ${bool} ? pair(r0, ${int}) : pair(${real}, k2); r2 = bound(half); b1 = odd; }`,
    },
    { weight: 1, arbitrary: text`{ const { half, low } = pair(${real}, ${int}); r1 = bound(half); k1 = low; }` },
    { weight: 1, arbitrary: text`{ const t = ${REALS}; ${REALS} = bound(${real}); ${REALS} = bound(t - ${REALS}); }` },
    { weight: 1, arbitrary: text`{ const t = ${INTS}; ${INTS} = ${int}; k2 = t ^ ${INTS}; }` },
    { weight: 1, arbitrary: text`{ const t = w[i]; w[i] = bound(${real}); r2 = bound(t + w[i]); }` },
    { weight: 1, arbitrary: text`{ const s = ${int}; { let k0 = s ^ 1; ${block} k1 = k0; } }` },
    { weight: 3, arbitrary: text`if (${bool}) { ${block} }` },
    { weight: 2, arbitrary: text`if (${bool}) { ${block} } else { ${block} }` },
    { weight: 1, arbitrary: text`if (${bool}) return;` },
    { weight: 1, arbitrary: text`${bool} ${oneOf("&&", "||")} (${INTS} = ${int});` },
    { weight: 2, arbitrary: text`for (let j = 0; j < ${trips}; j++) { ${loopBody} }` },
    { weight: 1, arbitrary: text`for (let j = ${trips}; j > 0; j -= 2) { ${loopBody} }` },
    { weight: 1, arbitrary: text`{ let c = 0; while (c < 4 && ${bool}) { c++; ${loopBody} } }` },
    { weight: 1, arbitrary: text`{ let c = 0; do { c++; ${loopBody} } while (c < 3 && ${bool}); }` },
    { weight: 1, arbitrary: text`{ let c = 0; while (true) { if (++c > ${oneOf("2", "4")}) break; ${loopBody} } }` },
  ];
}

function grammar(decisions: Decisions): Text {
  const { block } = fc.letrec<Grammar>((tie: fc.LetrecTypedTie<Grammar>) => {
    const expression = { maxDepth: 4, depthSize: 0.6 as const, withCrossShrink: true, depthIdentifier: "expression" };
    const nested = { maxDepth: 3, withCrossShrink: true, depthIdentifier: "statement" };
    const lines = (statement: Text, maxLength: number): Text =>
      fc.array(statement, { minLength: 1, maxLength, depthIdentifier: "statement" }).map((each) => each.join("\n"));
    const statement = tie("statement");
    const exit = text`if (${tie("bool")}) ${oneOf("break", "continue")};`;
    return {
      real: fc.oneof(expression, ...reals(tie, decisions)),
      int: fc.oneof(expression, ...ints(tie, decisions)),
      word: fc.oneof(expression, ...wordsOf(tie)),
      bool: fc.oneof(expression, ...bools(tie, decisions)),
      statement: fc.oneof(nested, ...statements(tie)),
      block: lines(statement, 3),
      loopBody: lines(fc.oneof({ weight: 3, arbitrary: statement }, { weight: 1, arbitrary: exit }), 3),
    };
  });
  return fc.array(block, { minLength: 2, maxLength: 5 }).map((blocks) => blocks.join("\n"));
}

/** A program; fast-check prints it as it is. */
export interface Program {
  readonly source: string;
  readonly [fc.toStringMethod]: () => string;
}

/** Kernels over the parameters that `programs.test.ts` declares. */
export function programs(decisions: Decisions): fc.Arbitrary<Program> {
  return grammar(decisions).map((body) => {
    const source = sourceOf(body);
    return { source, [fc.toStringMethod]: () => `\n${source}\n` };
  });
}

function sourceOf(body: string): string {
  return `({ n, x, yes, u, v, w, out, iout, uout }, gpu, { SCALE, COUNT, FLAG, bound, choose, mix, pair, search, stir, swirl }) => {
const i = gpu.globalId();
if (i >= n) return;
let r0 = x, r1 = u[i], r2 = 0.25;
let k0 = v[i], k1 = i, k2 = -5;
let m0 = 1, m1 = i & 7;
let w0 = v[i] >>> 0, w1 = 0x12345678 >>> 0;
let b0 = yes, b1 = i % 2 === 0;
const p = gpu.privateReal(4), o = gpu.privateReal(4), q = gpu.privateI32(4);
for (let j = 0; j < 4; j++) { p[j] = 0.125 * gpu.real(j); o[j] = 0.5 - p[j]; q[j] = i + j; }
const kept = { r: 0.125, k: 3, p }, held = { kept, o };
let state = { r: u[i], k: v[i] };
iout[i] = 1; uout[i] = 2;
${body}
out[i] = bound(out[i] + r0 + r1 + r2 + p[0] + p[1] + p[2] + p[3] + o[0] + o[1] + o[2] + o[3] + held.kept.r + state.r);
iout[i] = (k0 ^ k1 ^ k2 ^ m0 ^ m1) + (q[0] ^ q[1] ^ q[2] ^ q[3] ^ kept.k ^ state.k) + (b0 ? 1 : 0) | 0;
uout[i] = (w0 ^ w1) >>> 0;
}`;
}
