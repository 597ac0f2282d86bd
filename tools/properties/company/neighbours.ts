/** Neighbours of a description: the same but for one field. */
import type { Random } from "../random.ts";

/** Words that stand for each other: a change of one gives another description of the same form. */
const WORDS: readonly (readonly string[])[] = [
  ["call", "put"],
  ["payer", "receiver"],
  ["hit", "expiry"],
  ["up-and-out", "up-and-in"],
  ["down-and-out", "down-and-in"],
  ["arithmetic", "geometric"],
  ["fixed", "floating"],
  ["european", "american"],
  ["clean", "dirty"],
  ["callPrice", "zero"],
  ["svi", "ssvi", "essvi", "andreasen-huge"],
];

/** Fields that name other things, or count them. */
const KEPT = ["id", "underlying", "underlyings", "currency", "frequency", "quantity", "count"];

type Path = readonly (string | number)[];

/** Paths of the numbers, formulas and words of a description. */
function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value === "number") return value === 0 ? [] : [path];
  if (typeof value === "string")
    return /\d\.\d/.test(value) || WORDS.some((words) => words.includes(value)) ? [path] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, part]) =>
    KEPT.includes(name) ? [] : leavesOf(part, [...path, Array.isArray(value) ? Number(name) : name]),
  );
}

function changed(random: Random, leaf: number | string): number | string {
  if (typeof leaf === "number") {
    const next = leaf * (1 + random.choice([1e-13, 1e-3, 0.05, -0.05, 0.2]));
    return Number.isInteger(leaf) ? Math.max(leaf + random.choice([1, -1]), 1) : next;
  }
  const words = WORDS.find((some) => some.includes(leaf));
  if (words !== undefined) return random.choice(words.filter((word) => word !== leaf));
  // One of the numbers of a formula.
  const numbers = [...leaf.matchAll(/\d+\.\d+/g)];
  const { 0: text, index } = random.choice(numbers);
  return `${leaf.slice(0, index)}${Number(text) * random.choice([0.8, 1.25])}${leaf.slice(index + text.length)}`;
}

function replaced(value: unknown, [first, ...rest]: Path, leaf: unknown): unknown {
  if (first === undefined) return leaf;
  if (Array.isArray(value))
    return value.map((part, i) => (i === first ? replaced(part, rest, leaf) : (part as unknown)));
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [first]: replaced(record[first], rest, leaf) };
}

/** Returns a description that differs in one number, formula or word; itself if it has none. */
export function neighbourOf<T>(random: Random, given: T): T {
  const leaves = leavesOf(given);
  if (leaves.length === 0) return given;
  const path = random.choice(leaves);
  const leaf = path.reduce<unknown>((part, name) => (part as Record<string | number, unknown>)[name], given);
  return replaced(given, path, changed(random, leaf as number | string)) as T;
}
