/** Kinds of trades in `pricing`: a new one is a folder of `methods/` and a line of one table. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "../../src/pricing");

/** The kinds of `AnyTrade`, as a source may name them: by their types, by the word in `kind`, and by their modules. */
const NAMES = [
  /\b(?:Rates|Convertible)(?:Trade|Figures|Method)\b/,
  /\bkind [!=]== "(?:rates|convertible)"/,
  /\bmethods\/(?:rates|convertibles)\//,
];

/** The table. */
const MAY = ["kinds.ts"];

const namesKinds = (text: string): boolean => NAMES.some((name) => name.test(text));

describe("kinds of trades", () => {
  test("are named by their methods and by one table", () => {
    const naming = readdirSync(root, { recursive: true, encoding: "utf8" })
      .map((path) => path.split(sep).join("/"))
      .filter((path) => path.endsWith(".ts") && !path.startsWith("methods/"))
      .filter((path) => namesKinds(readFileSync(join(root, path), "utf8")));
    expect(naming.sort()).toEqual(MAY);
  });

  test.each([
    ['if (trade.kind === "rates") price();', true],
    ['import type { ConvertibleTrade } from "../book/index.ts";', true],
    ['import { ratesKind } from "./methods/rates/index.ts";', true],
    ['const { rates } = trade.underlying; if (volatility.kind === "local") read(rates);', false],
  ])("%s: %s", (text, isNaming) => {
    expect(namesKinds(text)).toBe(isNaming);
  });
});
