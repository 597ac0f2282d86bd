import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { library } from "../../src/market/scripts/index.ts";
import { feynkac } from "./in-process.ts";

const folder = mkdtempSync(join(tmpdir(), "feynkac-script-"));
afterAll(() => rmSync(folder, { recursive: true }));

interface Contents {
  readonly where: string;
  readonly name?: string;
  readonly mistakes: readonly { readonly event?: number; readonly message: string }[];
  readonly [rest: string]: unknown;
}

async function check(value: unknown): Promise<{ readonly status: number; readonly scripts: readonly Contents[] }> {
  const path = join(folder, "file.json");
  writeFileSync(path, JSON.stringify(value));
  const { status, stdout, stderr } = await feynkac(["script", "check", path, "--format", "json"]);
  if (stdout === "") throw new Error(stderr);
  return { status, ...(JSON.parse(stdout) as { readonly scripts: readonly Contents[] }) };
}

const events = [
  {
    on: "observations",
    do: "missed += coupon\nif (worst >= 0.7) { pay(100 * misssed); missed = 0; x = 3 }\nconst z = foo(3); missed = z",
  },
  { on: "maturity", do: "pay(100 * min(worst, 1);" },
  { on: "maturity", do: "for (k in S) { pay(S[k], { when: 1 }) }; while (1) {}" },
];

test("every mistake is found, with event, line, column, caret and remedy, and none that follows from another", async () => {
  const data = { observations: "dates", coupon: "number", maturity: "2028-01-01" };
  const { status, scripts } = await check({ underlyings: ["A", "B"], data, state: { missed: 0 }, events });
  expect(status).toBe(1);
  const [{ mistakes }] = scripts;
  const places = mistakes.map(({ message }) => /event \d, line \d, column \d+: [^\n]*/.exec(message)![0]);
  expect(places).toEqual([
    "event 1, line 2, column 31: misssed is unknown",
    "event 1, line 2, column 53: x is unknown and cannot be assigned",
    "event 1, line 3, column 11: foo is an unknown function",
    "event 2, line 1, column 24: unexpected ;",
    "event 3, line 1, column 28: a property is not part of a script",
    "event 3, line 1, column 42: a while statement is not part of a script",
  ]);
  for (const { message } of mistakes) expect(message).toMatch(/\n {4}.*\n {4} *\^\n {2}remedy: ./);
});

test("of a script without mistakes it says dates, payments, states, jumps, rights, and what it assumes", async () => {
  const script = {
    state: { level: 0, seen: 0, hit: false },
    events: [
      { on: ["2027-01-01", "2028-01-01"], do: "level = S.X / S0.X; if (S.X < low) hit = true; if (hit) seen += 1" },
      { on: "end", do: "pay(seen, { on: later }); call(100)\nif (level > 2) stop()" },
    ],
  };
  const { status, scripts } = await check(script);
  expect(status).toBe(0);
  expect(scripts).toEqual([
    {
      where: "",
      mistakes: [],
      underlyings: ["X"],
      data: { end: "dates", low: "number", later: "date" },
      assumed: ["end", "low", "later"],
      events: [{ on: ["2027-01-01", "2028-01-01"] }, { on: "end" }],
      payments: [{ event: 2, on: "later" }],
      states: [
        { name: "level", values: "real", initial: 0 },
        { name: "seen", values: "finite", initial: 0 },
        { name: "hit", values: "flag", initial: 0 },
      ],
      jumps: [
        { event: 1, line: 1, column: 25 },
        { event: 1, line: 1, column: 52 },
        { event: 2, line: 2, column: 5 },
      ],
      rights: [{ event: 2, of: "issuer" }],
      stops: true,
    },
  ]);
  const declared = await check({ ...script, underlyings: ["X"], data: { end: "date", later: "date" } });
  expect(declared.scripts[0].mistakes).toMatchObject([
    { event: 1, message: expect.stringContaining("low is unknown") },
  ]);
});

test("all scripts of the library pass, as files of their own", async () => {
  for (const [name, script] of Object.entries(library)) {
    const { scripts } = await check(script);
    expect([name, scripts[0].mistakes]).toEqual([name, []]);
  }
});

test("of a book the scripts of trades, and those of the market that no trade has", async () => {
  const note = { state: { n: 0 }, events: [{ on: "end", do: "n += 1; pay(n * rate)" }] };
  const wrong = { events: [{ on: "end", do: "pay(rat)" }] };
  const on = { underlying: "A", data: { end: 1, rate: 5 } };
  const book = {
    asOf: "2026-11-20",
    market: {
      rates: { EUR: 0.02 },
      underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } },
      scripts: { note, unused: { events: [{ on: "end", do: "stop()" }] } },
    },
    trades: [
      { id: "plain", underlying: "A", payoff: "put", strike: 100, expiry: 1 },
      { id: "good", ...on, script: "note" },
      { id: "wrong", ...on, script: wrong },
      { id: "missing", underlying: "A", script: "note", data: { end: 1 } },
      { id: "form", ...on, script: { events: 3 } },
      { id: "unread", ...on, script: "note", data: { ...on.data, colour: 1 } },
    ],
  };
  const { status, scripts } = await check(book);
  expect(status).toBe(1);
  expect(scripts.map(({ where, name, mistakes }) => [where, name, mistakes.map(({ message }) => message)])).toEqual([
    ["trades[1]", "good", []],
    ["trades[2]", "wrong", [expect.stringContaining("rat is unknown")]],
    ["trades[3]", "missing", [expect.stringContaining("rate is unknown")]],
    ["trades[4]", "form", [expect.stringContaining("trades[4].script.events")]],
    ["trades[5]", "unread", [expect.stringContaining("trades[5].data.colour: the script does not use it")]],
    ["market.scripts.unused", "unused", [expect.stringContaining("it pays nothing")]],
  ]);
});

test("as text, and a file with nothing to check", async () => {
  const text = JSON.stringify({ events: [{ on: "end", do: "pay(S)" }] });
  const { status, stdout, stderr } = await feynkac(["script", "check", "-"], { stdin: text });
  expect([status, stderr]).toEqual([0, "1 script, 0 mistakes\n"]);
  expect(stdout).toMatch(/^script: no mistakes\n {2}underlyings {2}A\n {2}data {9}end \(dates, assumed\)\n/);
  const other = await feynkac(["script", "check", "-"], { stdin: "[]" });
  expect(other).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^feynkac: standard input: expected a script/),
  });
});
