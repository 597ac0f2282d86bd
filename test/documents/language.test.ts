/** Rules of language that a machine can hold: line lengths, the README's length, words of the field. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const LINE_LENGTH = 120;

/** Lines that may be longer, by how they begin: none today. */
const LONG_LINES: readonly string[] = [];

const tracked = (...patterns: readonly string[]): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...patterns], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => file !== "");
const read = (file: string): string => readFileSync(join(root, file), "utf8");
const documents = tracked("*.md");

/** "12: the line" for each line that is too long. */
const tooLong = (lines: readonly (readonly [number, string])[]): string[] =>
  lines
    .filter(([, line]) => line.length > LINE_LENGTH && !LONG_LINES.some((begins) => line.startsWith(begins)))
    .map(([number, line]) => `${number}: ${line}`);

const numbered = (text: string): (readonly [number, string])[] =>
  text.split("\n").map((line, i) => [i + 1, line] as const);

/** Lines outside fenced code, which cannot always be broken. */
function prose(text: string): (readonly [number, string])[] {
  let fenced = false;
  return numbered(text).filter(([, line]) => {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) fenced = !fenced;
    return !isFence && !fenced;
  });
}

/** What is not said in this project's documents, and what is said instead. */
const OLD_WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bwatch(ed|ing|es)?\b/i, "monitored"],
  [/\banew\b/i, "again, or refactorised"],
  [/\bin turns\b/i, "alternating"],
  [/\bhardly any\b/i, "subnormal numbers"],
  [/\b(values?|stands?|bends?) (of|for|from) nothing\b/i, "zero"],
  [/\bsteady\b/i, "time-homogeneous"],
  [/\bjudged?\b/i, "estimated, or the error model"],
  [/\bdenormals?\b/i, "subnormal"],
  [/\b(a|as a|the|of the) part of the spot\b/i, "relative to spot, a fraction of the spot"],
  [/\bcrews?\b/i, "worker pool"],
  [/\balike\b/i, "equal, the same"],
  [/\bbends?\b/i, "kink"],
  [/\bmoving (obstacle|barrier|edge)/i, "time-dependent"],
  [/\blanes? (of|in) (a|the) batch\b/i, "instance"],
  [/\bprices? and risks?\b/i, "prices derivatives and computes their risk"],
  [/\blest\b/i, "so that … not"],
  [
    /\b(nanoseconds|ns|µs|ms|bytes|words|options|trades|numbers|steps|flops) an? (row|node|step|second|option|unknown)\b/i,
    "per",
  ],
  [/\bof one's own\b/i, "of your own"],
];

/** Text without code, addresses and the targets of links. */
const words = (line: string): string => line.replaceAll(/`[^`]*`|\]\([^)]*\)|<[^>]*>|https?:\S+/g, " ");

describe("documents", () => {
  it("README.md has at most 120 lines", () => {
    expect(read("README.md").split("\n").length - 1).toBeLessThanOrEqual(120);
  });

  it.each(documents)("%s: no line is longer than 120 characters", (file) => {
    expect(tooLong(prose(read(file)))).toEqual([]);
  });

  it.each(documents)("%s: the field's words", (file) => {
    const found = prose(read(file)).flatMap(([number, line]) =>
      OLD_WORDS.filter(([word]) => word.test(words(line))).map(([, better]) => `${number}: ${line} (${better})`),
    );
    expect(found).toEqual([]);
  });
});
