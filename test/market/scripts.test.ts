/** The language of scripts: how mistakes are told, what the analysis finds, and functions beside texts. */
import { describe, expect, test } from "vitest";
import { FeynkacError, KernelError } from "../../src/base/errors.ts";
import { afterDate } from "../../src/montecarlo/index.ts";
import {
  compileScript,
  type DataKind,
  dateText,
  letters,
  script,
  type ScriptInput,
} from "../../src/market/scripts/index.ts";
import { minifiers } from "../support/minifiers.ts";

const KINDS: ReadonlyMap<string, DataKind> = new Map([
  ["dates", "dates"],
  ["payDates", "dates"],
  ["maturity", "date"],
  ["barrier", "number"],
  ["coupon", "numbers"],
  ["weights", "each"],
]);

const oneEvent = (text: string, state: ScriptInput["state"] = { sum: 0, alive: true, locked: { each: 0 } }) => ({
  state,
  events: [{ on: "dates", do: text }],
});
const compiled = (text: string, underlyings = 2, state?: ScriptInput["state"]) =>
  compileScript(oneEvent(text, state), letters(underlyings), KINDS, "note");

describe("a mistake is told with its place and a remedy", () => {
  test.each([
    ["pay(S.A - strike)", 1, 11, "strike is unknown", "known are sum, alive, locked, barrier"],
    ["sum = 1\nsum += S", 2, 8, "one value for each underlying", "sum(…)"],
    ["while (true) { sum += 1 }", 1, 1, "while statement", "for (x in S)"],
    ["for (let i = 0; i < 9; i++) { sum += i }", 1, 1, "for statement", "for (x in S)"],
    ["for (x in weights) { sum += 1 }", 1, 1, "a loop is over underlyings", "for (x in S)"],
    ["if (sum) { stop() }", 1, 5, "a number is no condition", "x > 0"],
    ["pay(alive)", 1, 5, "a truth value is no number", "? 1 : 0"],
    ["sum = S.C", 1, 9, "C is no underlying", "A, B"],
    ["S.A = 3", 1, 1, "S is given", "a state"],
    ["barrier = 3", 1, 1, "barrier is given", "a state"],
    ["x = 3", 1, 1, "x is unknown", "const x"],
    ["const x = 1; x = 2", 1, 14, "x is constant", "let x"],
    ["pay(dates)", 1, 5, "dates is a date", "write t"],
    ["pay(1, { on: later })", 1, 14, "later is unknown", "data"],
    ["pay(1, 2)", 1, 8, "2 is not part of a script", "pay(amount, { on: payDate })"],
    ["pay(0 < S.A < 9)", 1, 5, "does not compare b with both", "a < b && b < c"],
    ["pay(max(S.A))", 1, 5, "max takes 2 arguments or more", "max(a, b)"],
    ["rank(1)", 1, 1, "no statement", "assignments"],
    ["pay(rank(3))", 1, 5, "rank takes a whole number from 1 to 2", "rank(1)"],
    ["return 3", 1, 1, "return statement", "assignments"],
    ["pay(eval(1))", 1, 5, "eval is an unknown function", "exp"],
    ["pay((() => 1)())", 1, 6, "unknown function", "exp"],
    ["globalThis.x = 1", 1, 1, "globalThis is unknown", "state"],
    ["pay(S.constructor)", 1, 7, "constructor is no underlying", "A, B"],
    ["pay('1')", 1, 5, "a string is not part of a script", "arithmetic"],
    ["pay(010)", 1, 5, "010 is not a decimal number", "write 10"],
    ["pay(2 ^ sum", 1, 12, "the event ends too early", "pay("],
    ["pay(2 ^ sum) sum", 1, 14, "unexpected s", "pay("],
    ["", 1, 1, "", ""],
  ])("%s", (text, line, column, what, remedy) => {
    if (text === "") return expect(compiled(text).events[0].body).toEqual([]);
    const error = thrown(() => compiled(text));
    expect(error).toBeInstanceOf(KernelError);
    expect(error.message).toContain(what);
    expect(error.message).toContain(remedy);
    expect([(error as KernelError).line, (error as KernelError).column]).toEqual([line, column]);
    expect(error.message).toContain("^");
  });

  test("states and data have names of their own", () => {
    expect(thrown(() => compiled("", 1, { S: 1 })).message).toContain("state.S: S is a word of the language");
    expect(thrown(() => compiled("", 1, { barrier: 1 })).message).toContain("the data have the same name");
    expect(thrown(() => compiled("", 1, { x: "coupon" })).message).toContain("the name of a number of the data");
  });
});

describe("the analysis", () => {
  const text =
    "sum += coupon\nif (worst >= barrier) { pay(100 + sum, { on: payDates }); stop() }\n" +
    "for (x in S) locked[x] = max(locked[x], S[x] / last[x])\nlast = S\nconst up = barrier > 1 ? 1 : 0\nsum += up";

  test("finds dates, payments, rights, states and jumps", () => {
    const program = compiled(`${text}\nif (t > 1) call(100)`);
    expect(program.states.map(({ name, values }) => `${name} ${values}`)).toEqual([
      "sum finite",
      "alive flag",
      "locked real",
    ]);
    expect(program.sites).toEqual([{ event: 0, on: "payDates", currency: undefined }]);
    expect(program.rights).toEqual([{ event: 0, of: "call" }]);
    expect(program.jumps).toEqual([{ event: 0, position: text.indexOf("worst") }]);
    expect([...program.uses].toSorted()).toEqual(["barrier", "coupon", "dates", "payDates"]);
    expect(program.columns.map(({ kind }) => kind)).toEqual(["happens", "happens", "time", "dated", "delay"]);
  });

  test("calls a payoff without conditions on spots continuous", () => {
    expect(compiled("sum += max(0, min(S.A / last.A - 1, 0.03)); last = S; if (t > 1) pay(sum)").jumps).toEqual([]);
    expect(compiled("pay(floor(S.A))").jumps).toHaveLength(1);
    // A flag that spots have set decides a payment of a later event.
    const later = {
      state: { hit: false },
      events: [oneEvent("hit = S.A > 1").events[0], oneEvent("if (hit) pay(1)").events[0]],
    };
    expect(compileScript(later, letters(1), KINDS, "note").jumps).toEqual([{ event: 1, position: 4 }]);
  });

  test("equal shapes are one program", () => {
    expect(compiled(text)).toBe(compiled(text));
    expect(compiled(text, 3)).not.toBe(compiled(text));
  });
});

describe("a function of TypeScript", () => {
  const typed = () =>
    script({
      underlyings: ["A", "B"],
      data: { dates: "dates", barrier: "number", coupon: "number", maturity: "date" },
      state: { alive: 1, periods: 0 },
      events: [
        {
          on: "dates",
          do({ S, S0, barrier, coupon, state, pay, stop }) {
            state.periods += 1;
            if (Math.min(S.A / S0.A, S.B / S0.B) >= barrier) {
              pay(100 * (1 + coupon * state.periods));
              stop();
            }
          },
        },
        {
          on: "maturity",
          do({ S, S0, barrier, pay }) {
            const worst_ = Math.min(S.A / S0.A, S.B / S0.B);
            pay(worst_ < barrier ? 100 * worst_ : 100);
          },
        },
      ],
    });
  const text: ScriptInput = {
    state: { alive: 1, periods: 0 },
    events: [
      {
        on: "dates",
        do: "periods += 1\nif (min(S.A / S0.A, S.B / S0.B) >= barrier) { pay(100 * (1 + coupon * periods)); stop() }",
      },
      { on: "maturity", do: "const w = min(S / S0)\npay(w < barrier ? 100 * w : 100)" },
    ],
  };
  const bodies = (of: ScriptInput) => dateText(compileScript(of, ["A", "B"], KINDS, "note"));

  test("is the same program as its text", () => {
    expect(bodies(typed())).toBe(bodies(text));
  });

  const code = `export const made = (script) => script({
    state: { periods: 0 },
    events: [
      {
        on: "dates",
        do({ S, S0, barrier, coupon, state, pay, stop }) {
          state.periods += 1;
          const low = Math.min(S.A / S0.A, S.B / S0.B);
          if (low >= barrier) {
            pay(100 * (1 + coupon * state.periods), { on: "payDates" });
            stop();
          } else if (low < 0.5 * barrier) pay(-low);
        },
      },
    ],
  });`;
  const madeBy = async (module: string): Promise<ScriptInput> => {
    const { made } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as {
      readonly made: (of: typeof script) => ScriptInput;
    };
    return made(script);
  };
  /** Without the names of local values. */
  const shape = (of: ScriptInput) => bodies(of).replaceAll(/\bv\d+_\d+\b/g, "v");

  test.each(minifiers)("survives $name", async ({ minify }) => {
    const shrunk = await minify(code);
    expect(shrunk.length).toBeLessThan(code.length);
    const [before, after] = [await madeBy(code), await madeBy(shrunk)];
    expect(valuesOf(after)).toEqual(valuesOf(before));
    expect(shape(after)).toContain("running[1] = 0");
  });

  test("takes its words in braces", () => {
    const all = (words: unknown): void => void words;
    expect(thrown(() => script({ data: { d: "date" }, events: [{ on: "d", do: all }] })).message).toContain("braces");
  });
});

/** What a script on two underlyings carries after one date, at some spots. */
function valuesOf(of: ScriptInput): readonly (readonly number[])[] {
  const program = compileScript(of, ["A", "B"], KINDS, "note");
  const scalars = program.scalars.map(() => 0.9);
  const dated = program.columns.map(({ kind }) => (kind === "happens" ? 1 : 0.1));
  const begin = [0, 1, 2, 100, 100].slice(0, program.running);
  return [
    [95, 99],
    [80, 99],
    [120, 30],
  ].map((spots) => afterDate(program, begin, { spots, scalars, dated }));
}

test("every malformed script is refused with a place", () => {
  const random = generator(48);
  const valid = [
    "sum += coupon\nif (worst >= barrier && alive) { pay(100 * sum, { on: payDates }); stop() } else { alive = false }",
    "for (x in S) { if (S[x] / S0[x] > barrier) locked[x] = max(locked[x], S[x] ^ 2) }\nlast = S",
    "const p = mean(weights * S / S0); pay(p < 1 ? 100 * p : sum(S) - rank(1)); if (t > 1) exercise(p)",
  ];
  const pieces = [
    "(",
    ")",
    "{",
    "}",
    ";",
    "=",
    "+",
    "S",
    ".",
    "[",
    "]",
    "1",
    "e",
    "^",
    "*",
    "if",
    "?",
    ":",
    "\n",
    "pay",
    "🙂",
    "'",
    "`",
    "/",
  ];
  let refused = 0;
  for (let k = 0; k < 1000; k++) {
    let text = valid[k % valid.length];
    for (let m = 0; m <= random(3); m++) {
      const at = random(text.length);
      text = text.slice(0, at) + (random(2) === 0 ? pieces[random(pieces.length)] : "") + text.slice(at + random(4));
    }
    try {
      compiled(text);
    } catch (error) {
      refused++;
      if (!(error instanceof KernelError)) throw new Error(text, { cause: error });
      const { line = 0, column = 0, message } = error;
      const lines = text.split("\n");
      const isInside = line >= 1 && line <= lines.length && column >= 1 && column <= lines[line - 1].length + 1;
      if (!isInside || !message.includes("remedy")) throw new Error(`${text}\n${message}`, { cause: error });
    }
  }
  expect(refused).toBeGreaterThan(600);
});

function thrown(run: () => unknown): FeynkacError {
  try {
    run();
  } catch (error) {
    if (error instanceof FeynkacError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** A generator of whole numbers below a bound (a linear congruence of 32 bits). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
