/** What a change of the API is: a break, an addition, or a change of what was experimental. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type ApiRecord, changesOf, type Exported, isLargeEnough, recordOf } from "../../scripts/api/changes.ts";
import { readEntries, root } from "../../scripts/api/exports.ts";

const stable = (declaration: string): Exported => ({ declaration, stability: "stable" });
const record = (one: Exported | undefined): ApiRecord => ({ feynkac: one === undefined ? {} : { one } });
const kindOf = (before: Exported | undefined, after: Exported | undefined): string | undefined =>
  changesOf(record(before), record(after))[0]?.kind;

it.each([
  [
    "an optional member",
    "interface A {\n  readonly b: number;\n}",
    "interface A {\n  readonly b: number;\n  readonly c?: string;\n}",
  ],
  ["an optional parameter", "function f(a: number): void;", "function f(a: number, b?: { readonly c: number }): void;"],
  ["an overload", "function f(a: number): void;", "function f(a: number): void;\nfunction f(a: string): void;"],
  ["a member of a class", "class A {\n  b(): void;\n}", "class A {\n  b(): void;\n  c(d: number): string;\n}"],
  ["a text of a union", 'type A = "a" | "b";', 'type A = "a" | "b" | "c";'],
])("an addition: %s", (_, before, after) => {
  expect(kindOf(stable(before), stable(after))).toBe("addition");
  expect(kindOf(stable(after), stable(before))).toBe("breaking");
});

it.each([
  [
    "a required member",
    "interface A {\n  readonly b: number;\n}",
    "interface A {\n  readonly b: number;\n  readonly c: string;\n}",
  ],
  ["another type", "interface A {\n  readonly b: number;\n}", "interface A {\n  readonly b: string;\n}"],
  ["a required parameter", "function f(a: number): void;", "function f(a: number, b: number): void;"],
  ["another result", "function f(a: number): void;", "function f(a: number): string;"],
  ["a parameter that is gone", "function f(a: number, b: number): void;", "function f(a: number): void;"],
  [
    "an optional parameter between others",
    "function f(b?: number): void;",
    "function f(a?: number, b?: number): void;",
  ],
  ["the same of a constant", "const f: (b?: number) => void;", "const f: (a?: number, b?: number) => void;"],
  ["a member that is no longer optional", "interface A {\n  b?: number;\n}", "interface A {\n  b: number;\n}"],
  ["a narrower type", "type A = string | number;", "type A = string;"],
  [
    "an abstract member",
    "abstract class A {\n  b(): void;\n}",
    "abstract class A {\n  b(): void;\n  abstract c(): void;\n}",
  ],
])("a break: %s", (_, before, after) => {
  expect(kindOf(stable(before), stable(after))).toBe("breaking");
});

it("a name that is gone breaks, one that is new does not, and comments count for nothing", () => {
  expect(kindOf(stable("const a: number;"), undefined)).toBe("breaking");
  expect(kindOf(undefined, stable("const a: number;"))).toBe("addition");
  expect(kindOf(stable("const a: number;"), stable("const a: number;"))).toBeUndefined();
});

it("what is experimental may change, and what is stable stays so", () => {
  const experimental = { declaration: "const a: number;", stability: "experimental" } as const;
  expect(kindOf(experimental, undefined)).toBe("experimental");
  expect(kindOf(experimental, stable(experimental.declaration))).toBeUndefined();
  expect(kindOf(stable(experimental.declaration), experimental)).toBe("breaking");
});

it("a version says how much has changed", () => {
  const [breaking] = changesOf(record(stable("const a: number;")), record(undefined));
  const [addition] = changesOf(record(undefined), record(stable("const a: number;")));
  expect(["1.2.4", "1.3.0", "2.0.0"].map((to) => isLargeEnough("1.2.3", to, []))).toEqual([true, true, true]);
  expect(["1.2.4", "1.3.0", "2.0.0"].map((to) => isLargeEnough("1.2.3", to, [addition]))).toEqual([false, true, true]);
  expect(["1.2.4", "1.3.0", "2.0.0"].map((to) => isLargeEnough("1.2.3", to, [breaking]))).toEqual([false, false, true]);
  expect(["0.1.1", "0.2.0"].map((to) => isLargeEnough("0.1.0", to, [breaking]))).toEqual([false, true]);
  expect(isLargeEnough("0.1.0", "0.1.1", [addition])).toBe(true);
  for (const to of ["1.2.3", "1.2.2", "1.1.9", "0.9.9"]) expect(isLargeEnough("1.2.3", to, [])).toBe(false);
});

const entries = readEntries();

it("each type that a stable export is made of is kept, too, and its change counts", () => {
  const now = recordOf(entries);
  const declared = (name: string): string => now.feynkac[name].declaration;
  // Nobody can import `PairSensitivity`, but `PricedTrade` has some.
  expect(declared("PricedTrade")).toContain("readonly PairSensitivity[]");
  const changed = {
    ...now.feynkac.PairSensitivity,
    declaration: declared("PairSensitivity").replace("number", "string"),
  };
  expect(changed).not.toEqual(now.feynkac.PairSensitivity);
  const later = { ...now, feynkac: { ...now.feynkac, PairSensitivity: changed } };
  expect(changesOf(now, later)).toMatchObject([{ kind: "breaking", name: "feynkac: PairSensitivity" }]);
});

it("each export is stable or experimental", () => {
  const without = entries.flatMap(({ exports }) => exports.filter(({ doc }) => doc?.stability === undefined));
  expect(without.map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
});

// `npm run release` writes what it has released.
const released = join(root, "schema/api.json");
it.skipIf(!existsSync(released))("the version is large enough for what has changed since the last release", () => {
  const { version, exports } = JSON.parse(readFileSync(released, "utf8")) as { version: string; exports: ApiRecord };
  const { version: now } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  const changes = changesOf(exports, recordOf(entries));
  expect(changes.filter(({ kind }) => kind === "breaking" && !isLargeEnough(version, now, changes))).toEqual([]);
});
