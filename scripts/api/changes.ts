/** What differs between two versions of the package's exports, and which version number that needs. */
import { splitComment } from "./comment.ts";
import type { Entry } from "./exports.ts";

/** The exports of a version: by entry, then by name. */
export type ApiRecord = Readonly<Record<string, Readonly<Record<string, Exported>>>>;

export interface Exported {
  /** The declaration without comments. */
  readonly declaration: string;
  readonly stability: "stable" | "experimental";
}

export interface ApiChange {
  /** "feynkac/kernel: fn". */
  readonly name: string;
  readonly kind: "breaking" | "addition" | "experimental";
  readonly what: string;
}

/** Returns the exports of entries, and the types in them, in the form that is kept with a release. */
export const recordOf = (entries: readonly Entry[]): ApiRecord =>
  Object.fromEntries(
    entries.map(({ name, exports, mentioned }) => {
      const record: Record<string, Exported> = {};
      for (const one of [...exports, ...mentioned]) {
        const declaration = withoutComments(one.declaration);
        // Types of one name, from several files, are kept together.
        record[one.name] = Object.hasOwn(record, one.name)
          ? { ...record[one.name], declaration: `${record[one.name].declaration}\n${declaration}` }
          : { declaration, stability: one.doc?.stability ?? "stable" };
      }
      return [name, record];
    }),
  );

const withoutComments = (code: string): string =>
  splitComment(code)
    .code.replaceAll(/\/\*.*?\*\//gs, "")
    .split("\n")
    .map((line) => line.replace(/\s*\/\/.*$/, "").trimEnd())
    .filter((line) => line !== "")
    .join("\n");

/**
 * Compares two versions. A name that is gone breaks, and so does a declaration that changes otherwise than by optional
 * members, members of a class, members of a union of texts, further overloads and optional last parameters. A required
 * member that is new breaks, since a user may have made such an object, and so does an abstract one. What was
 * experimental may change at any time.
 */
export function changesOf(before: ApiRecord, after: ApiRecord): ApiChange[] {
  const changes: ApiChange[] = [];
  for (const entry of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[entry] ?? {}, after[entry] ?? {}];
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      const what = whatChanged(old[name], now[name]);
      if (what === undefined) continue;
      const kind = old[name]?.stability === "experimental" ? "experimental" : what.kind;
      changes.push({ name: `${entry}: ${name}`, kind, what: what.text });
    }
  }
  return changes;
}

function whatChanged(old: Exported | undefined, now: Exported | undefined) {
  if (old === undefined) return { kind: "addition", text: "is new" } as const;
  if (now === undefined) return { kind: "breaking", text: "is gone" } as const;
  if (old.stability === "stable" && now.stability === "experimental")
    return { kind: "breaking", text: "is experimental now" } as const;
  if (old.declaration === now.declaration) return undefined;
  return isAddition(old.declaration, now.declaration)
    ? ({ kind: "addition", text: "has more" } as const)
    : ({ kind: "breaking", text: `was\n${old.declaration}\nand is\n${now.declaration}` } as const);
}

/** Whether a declaration has all that it had, in its order, and what is new may be left out. */
function isAddition(old: string, now: string): boolean {
  const [hadOverloads, overloads] = [old, now].map((code) => code.split(/(?<=;)\n(?=function )/));
  if (overloads.length > 1) return hadOverloads.every((one) => overloads.includes(one));
  const [had, has] = [partsOf(old), partsOf(now)];
  const mayAdd = /^(?:abstract )?class\b/.test(old)
    ? (part: string): boolean => !part.startsWith("abstract ")
    : (part: string): boolean => /^(?:readonly )?\w+\?:/.test(part) || /^\|? ?"[^"]*"$/.test(part);
  // Callers know parameters by their places: one that is new comes after the others, before the result.
  const result = had.findIndex((part) => /^(?::|=>)/.test(part));
  let next = 0;
  for (const part of has) {
    if (part === had[next]) next++;
    else if (next < result || !mayAdd(part)) return false;
  }
  return next === had.length;
}

/** Members, parameters, members of unions: what stands between marks of punctuation outside of inner braces. */
function partsOf(declaration: string): string[] {
  const parts: string[] = [];
  let [depth, part] = [0, ""];
  const end = (): void => {
    if (part.trim() !== "") parts.push(part.replaceAll(/\s+/g, " ").trim());
    part = "";
  };
  for (const mark of declaration) {
    if ("([{<".includes(mark)) depth++;
    if (")]}".includes(mark)) depth--;
    if (mark === ">" && !part.endsWith("=")) depth--;
    if (depth <= 1 && (";,".includes(mark) || (depth === 1 && "({".includes(mark)))) end();
    else if (depth === 0 && ")}".includes(mark)) end();
    else if (depth === 0 && mark === "|") {
      end();
      part = "|";
    } else part += mark;
  }
  end();
  return parts;
}

/** Returns whether a version is later by as large a step as the changes need: in 0.x a minor one breaks. */
export function isLargeEnough(from: string, to: string, changes: readonly ApiChange[]): boolean {
  const [a, b] = [from, to].map((version) => version.split(".").map(Number));
  const step = [0, 1, 2].find((i) => a[i] !== b[i]) ?? 3;
  if (b[step] < a[step]) return false;
  const needed = changes.some(({ kind }) => kind === "breaking")
    ? 0
    : changes.some(({ kind }) => kind === "addition")
      ? 1
      : 2;
  return step <= (a[0] === 0 ? Math.min(needed + 1, 2) : needed);
}
