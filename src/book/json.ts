import { BookError } from "../base/errors.ts";
import { quote } from "./names.ts";
import { findInvalid, NOT_UTF8 } from "./text.ts";

/**
 * The position at which text is not JSON, with a description of what was expected. It is found by a scan after
 * `JSON.parse` has failed, because JavaScript engines report positions differently or not at all. The scan keeps its
 * own stack, so that deep nesting cannot exhaust the call stack.
 */
interface JsonProblem {
  readonly offset: number;
  readonly expected: string;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// oxlint-disable-next-line no-control-regex -- a control character ends the run: JSON strings cannot hold one
const STRING_RUN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\r\n]*/y;
const WORD = /true|false|null/y;

/** The tokens that may follow, inside the innermost open bracket or brace. */
type State = "value" | "value or ]" | "name or }" | "name" | ":" | ", or ]" | ", or }" | "end";

const WORDING: Readonly<Record<State, string>> = {
  value: "a value",
  "value or ]": "a value or ']'",
  "name or }": "a name in double quotes or '}'",
  name: "a name in double quotes",
  ":": "':' after the name",
  ", or ]": "',' or ']'",
  ", or }": "',' or '}'",
  end: "the end",
};

/**
 * Finds the first position at which text is not JSON, and what was expected there. Returns undefined if the text is
 * JSON.
 */
function findJsonProblem(text: string): JsonProblem | undefined {
  const open: ("[" | "{")[] = [];
  let state: State = "value";
  let offset = skip(SPACE, text, 0);
  const afterValue = (): State => (open.length === 0 ? "end" : open.at(-1) === "[" ? ", or ]" : ", or }");
  while (offset < text.length) {
    const step = advance(text, offset, state);
    if (typeof step === "object") return step;
    const char = text[offset];
    if (step === "opened") {
      open.push(char as "[" | "{");
      state = char === "[" ? "value or ]" : "name or }";
    } else if (step === "closed") {
      open.pop();
      state = afterValue();
    } else {
      state = step === "valued" ? afterValue() : step;
    }
    offset = skip(SPACE, text, step === "valued" || step === ":" ? tokenEnd(text, offset) : offset + 1);
  }
  return state === "end" ? undefined : { offset, expected: WORDING[state] };
}

type Step = "opened" | "closed" | "valued" | State;

/** Checks that the token at `offset` is allowed in the given state. */
function advance(text: string, offset: number, state: State): Step | JsonProblem {
  const char = text[offset];
  const wrong: JsonProblem = { offset, expected: WORDING[state] };
  switch (state) {
    case "value":
    case "value or ]":
      if (char === "]" && state === "value or ]") return "closed";
      if (char === "[" || char === "{") return "opened";
      return scalarProblem(text, offset, wrong) ?? "valued";
    case "name":
    case "name or }":
      if (char === "}" && state === "name or }") return "closed";
      return char === '"' ? (stringProblem(text, offset) ?? ":") : wrong;
    case ":":
      return char === ":" ? "value" : wrong;
    case ", or ]":
      return char === "]" ? "closed" : char === "," ? "value" : wrong;
    case ", or }":
      return char === "}" ? "closed" : char === "," ? "name" : wrong;
    case "end":
      return wrong;
    default:
      return state satisfies never;
  }
}

function scalarProblem(text: string, offset: number, wrong: JsonProblem): JsonProblem | undefined {
  if (text[offset] === '"') return stringProblem(text, offset);
  return skip(WORD, text, offset) > offset || skip(NUMBER, text, offset) > offset ? undefined : wrong;
}

function stringProblem(text: string, start: number): JsonProblem | undefined {
  let offset = start + 1;
  for (;;) {
    offset = skip(STRING_RUN, text, offset);
    if (text[offset] === '"') return undefined;
    if (text[offset] !== "\\") return { offset, expected: "the closing '\"' of a string" };
    const next = skip(ESCAPE, text, offset);
    if (next === offset) return { offset, expected: "a known escape (\\n, \\u00e9, …)" };
    offset = next;
  }
}

/** The position after the string, word or number at `offset`, which was checked before. */
function tokenEnd(text: string, offset: number): number {
  if (text[offset] !== '"') return Math.max(skip(WORD, text, offset), skip(NUMBER, text, offset));
  let end = offset + 1;
  while (text[end] !== '"') end = text[end] === "\\" ? end + 2 : skip(STRING_RUN, text, end);
  return end + 1;
}

function skip(pattern: RegExp, text: string, offset: number): number {
  pattern.lastIndex = offset;
  return pattern.test(text) ? pattern.lastIndex : offset;
}

/**
 * Returns the number of member names (strings followed by a colon) in JSON text. It runs on every line of a file, and
 * therefore skips from quote to quote.
 */
function countNames(text: string): number {
  let names = 0;
  for (let quote = text.indexOf('"'); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    do quote = text.indexOf('"', quote + 1);
    while (isEscaped(text, quote));
    let next = quote + 1;
    while (text.charCodeAt(next) <= 0x20) next++;
    if (text[next] === ":") names++;
  }
  return names;
}

/** Tells whether a character is preceded by an odd number of backslashes. */
function isEscaped(text: string, offset: number): boolean {
  let start = offset;
  while (text[start - 1] === "\\") start--;
  return (offset - start) % 2 === 1;
}

const NAME_OR_BRACKET = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}[\]]/g;

/** Finds the first member name in JSON text that an object has twice; undefined if there is none. */
function findRepeatedName(text: string): { readonly offset: number; readonly name: string } | undefined {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: token, 1: string, 2: colon, index } of text.matchAll(NAME_OR_BRACKET)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (string === undefined) open.pop();
    else if (colon !== undefined) {
      const name = JSON.parse(string) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return { offset: index, name };
      names?.add(name);
    }
  }
  return undefined;
}

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
