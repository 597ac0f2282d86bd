import { BookError } from "../base/errors.ts";
import { countNames, findJsonProblem, findRepeatedName } from "./json-scan.ts";
import { quote } from "./names.ts";
import { findInvalid, NOT_UTF8 } from "./text.ts";

/**
 * Parses JSON text to plain data and ignores a byte order mark. A name that an object has twice is an error, whereas
 * `JSON.parse` silently takes the last value.
 *
 * @param where what the text is, for error messages: `line 17`, or nothing for a whole book.
 * @throws BookError `not JSON: line 3, column 14: expected ',' or '}', got "x"`
 */
export function parseJson(text: string, where = ""): unknown {
  const plain = text.startsWith("\ufeff") ? text.slice(1) : text;
  const at = (offset: number): string => placeOf(plain, offset, where !== "");
  const invalid = findInvalid(plain);
  if (invalid >= 0) throw new BookError(where, `${at(invalid)}: ${NOT_UTF8}`);
  let value: unknown;
  try {
    value = JSON.parse(plain);
  } catch (cause) {
    throw new BookError(where, describeProblem(plain, at), { cause });
  }
  const repeated = isWellNamed(plain, value) ? undefined : findRepeatedName(plain);
  if (repeated !== undefined)
    throw new BookError(where, `${at(repeated.offset)}: ${quote(repeated.name)} is given twice in one object`);
  return value;
}

/** Tells whether no object in JSON text has a name twice. `value` is the result of parsing the text. */
export function isWellNamed(text: string, value: unknown): boolean {
  return countNames(text) === namesOf(value);
}

/**
 * The number of member names of all objects in a value. It is counted without recursion, because the nesting may be
 * deeper than the stack allows.
 */
function namesOf(value: unknown): number {
  let names = 0;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== "object" || next === null) continue;
    if (Array.isArray(next)) {
      for (const inner of next as unknown[]) if (typeof inner === "object" && inner !== null) open.push(inner);
      continue;
    }
    for (const name in next) {
      names++;
      const inner = (next as Record<string, unknown>)[name];
      if (typeof inner === "object" && inner !== null) open.push(inner);
    }
  }
  return names;
}

function describeProblem(text: string, at: (offset: number) => string): string {
  if (text.trim() === "") return "expected JSON, got nothing";
  const problem = findJsonProblem(text);
  if (problem === undefined) return "not JSON that can be read (nested too deeply, or too long)";
  const { offset, expected } = problem;
  const got =
    offset < text.length ? quote(String.fromCodePoint(text.codePointAt(offset) as number)) : "the end of the text";
  return `not JSON: ${at(offset)}: expected ${expected}, got ${got}`;
}

/**
 * Describes the position of an error by line and column, or by column alone for one line of a stream, whose number is
 * reported separately.
 */
function placeOf(text: string, offset: number, oneLine: boolean): string {
  const before = text.slice(0, offset);
  const column = offset - before.lastIndexOf("\n");
  return `${oneLine ? "" : `line ${before.split("\n").length}, `}column ${column}`;
}
