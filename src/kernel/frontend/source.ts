/** Parses a function's text to its syntax tree, and makes error messages that show a position in it with a caret. */
import { LruCache } from "../../base/memoize.ts";
import { parse, type Node as AcornNode } from "acorn";

import { KernelError } from "../../base/errors.ts";
import type { Place } from "../ir.ts";
import type { FunctionSyntax } from "./syntax.ts";
import { firstIndex } from "../../base/search.ts";

/** The text and syntax tree of one function, with its index in the list of all functions that a kernel uses. */
export interface SourceUnit {
  readonly name: string;
  readonly text: string;
  readonly index: number;
  /** The number of characters added before `text` to make it parse; positions in the tree include it. */
  readonly offset: number;
  readonly syntax: FunctionSyntax;
  /** The positions in `text` at which lines start. */
  readonly lineStarts: readonly number[];
  /** Returns the position of the declaration, "path/to/file.ts:12:5", if it is known. */
  readonly declared: () => string | undefined;
}

/** Traces that code-instrumenting tools leave in a function's text, with advice to their users. */
const INSTRUMENTATION: readonly (readonly [RegExp, string])[] = [
  [/\b__name\s*\(/, "esbuild's keepNames (calls of __name); compile this file with keepNames: false"],
  [
    /\bcov_[0-9a-z]+\s*\(\s*\)/,
    "istanbul's coverage counters; use V8 coverage, or exclude this file from instrumentation",
  ],
  [/\b__vite_ssr_\w+/, "vite's import rewriting: the kernel uses an imported name; hand it over through `env`"],
  [/\b_?_?stryMutAct_\w*/, "Stryker's mutation switches; exclude this file from mutation"],
];

interface ParsedText {
  readonly syntax: FunctionSyntax;
  readonly offset: number;
  readonly lineStarts: readonly number[];
}

/**
 * The number of functions whose syntax trees are cached. The solvers of all kinds of trades consist of about 150;
 * users' own functions are in addition.
 */
const MOST_TEXTS = 512;
/**
 * The parsed texts. Each text is parsed once, however many kernels inline the function and however often it is
 * declared.
 */
const parsedTexts = new LruCache<string, ParsedText>(MOST_TEXTS);

/**
 * Returns the parsed text of a function. Syntax trees are cached by text. `index` is its index in the kernel's list.
 */
export function parseFunction(
  name: string,
  text: string,
  declared: () => string | undefined,
  index: number,
): SourceUnit {
  const parsed = parsedTexts.getOrMake(text, () => parseText(name, text, declared));
  return { name, text, index, declared, ...parsed };
}

function parseText(name: string, text: string, declared: () => string | undefined): ParsedText {
  // A method's text (`body({ n }) { … }`) is no expression by itself, but is one as a member of an object.
  const attempts = [
    { prefix: "(", suffix: ")" },
    { prefix: "({", suffix: "})" },
  ];
  if (looksLikeMethod(text)) attempts.reverse();
  let failure: unknown;
  let waits = false;
  for (const { prefix, suffix } of attempts) {
    try {
      const program = parse(prefix + text + "\n" + suffix, {
        ecmaVersion: 2023,
        sourceType: "script",
        locations: false,
      });
      const node = functionNode(program.body[0]);
      if (node?.async === true) waits = true;
      if (node === null || node.async || program.body.length !== 1) continue;
      const { params, body, generator } = node;
      return { syntax: { params, body, generator }, offset: prefix.length, lineStarts: lineStartsOf(text) };
    } catch (error) {
      failure ??= error; // of the likelier reading
    }
  }
  if (waits)
    throw sourceError({ name, text, declared }, 0, "an async function: a kernel does not wait", "leave async out");
  for (const [pattern, tool] of INSTRUMENTATION)
    if (pattern.test(text)) throw new KernelError(`kernel "${name}": the source was changed by ${tool}`);
  const position = (failure as { pos?: number } | undefined)?.pos ?? 0;
  const prefix = looksLikeMethod(text) ? 2 : 1;
  const reason = failure instanceof Error ? failure.message.replace(/ \(\d+:\d+\)$/, "") : "not a function";
  throw sourceError(
    { name, text, declared },
    Math.max(0, position - prefix),
    `cannot be read as a function: ${reason}`,
    "write an arrow function, a method or a function expression",
  );
}

function looksLikeMethod(text: string): boolean {
  return /^\s*(async\s+)?\*?\s*[\w$]+\s*\(/.test(text) && !/^\s*(async\s+)?function\b/.test(text);
}

/** Returns the syntax node of the function that a statement consists of. */
function functionNode(statement: AcornNode | undefined): (FunctionSyntax & { readonly async: boolean }) | null {
  if (statement?.type !== "ExpressionStatement") return null;
  let node = (statement as unknown as { expression: any }).expression;
  if (node.type === "ObjectExpression") {
    if (node.properties.length !== 1 || node.properties[0].type !== "Property") return null;
    node = node.properties[0].value;
  }
  return node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression" ? node : null;
}

/**
 * Throws an error if a tool, such as a coverage counter, has instrumented the function's code. It runs first, because
 * such code would cause other, less helpful errors.
 */
export function checkInstrumentation(unit: SourceUnit): void {
  for (const [pattern, tool] of INSTRUMENTATION) {
    const match = pattern.exec(unit.text);
    if (match) throw sourceError(unit, match.index, `the source was changed by ${tool}`, undefined);
  }
}

/** Returns the line and column of a position in a function's text. */
export function placeOf(unit: SourceUnit, start: number): Place {
  const { line, column } = lineAndColumn(unit.lineStarts, start - unit.offset);
  return { line, column, source: unit.index };
}

/** Returns the positions at which the lines of a text start. */
function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function lineAndColumn(starts: readonly number[], position: number): { line: number; column: number } {
  const line = firstIndex(1, starts.length, (i) => starts[i] > position);
  return { line, column: position - starts[line - 1] + 1 };
}

/** Returns an error that shows a position in a function's text, given by a position in its syntax tree. */
export function errorAt(unit: SourceUnit, start: number, what: string, remedy?: string): KernelError {
  return sourceError(unit, start - unit.offset, what, remedy);
}

function sourceError(
  unit: { name: string; text: string; declared: () => string | undefined },
  position: number,
  what: string,
  remedy: string | undefined,
): KernelError {
  const { line, column } = lineAndColumn(lineStartsOf(unit.text), position);
  return errorWithCaret(unit.name, unit.text, unit.declared(), line, column, what, remedy);
}

/**
 * Returns an error with a message that shows its position:
 *   kernel "heat", line 4, column 12 (declared at src/heat.ts:10:21)
 *     out[i] = n * u[i];
 *              ^
 *   mixed i32 and real
 *   remedy: write gpu.real(n)
 */
export function errorWithCaret(
  name: string,
  text: string,
  declared: string | undefined,
  line: number,
  column: number,
  what: string,
  remedy: string | undefined,
): KernelError {
  const said = messageWithCaret(text, line, column, what, remedy);
  const where = declared === undefined ? "" : ` (declared at ${declared})`;
  const place = { line, column, name, source: text, what: said };
  return new KernelError(`kernel "${name}", line ${line}, column ${column}${where}: ${said}`, place);
}

/** Returns an error about a function or a formula as a whole. It shows the beginning of the text. */
export function errorInFunction(name: string, text: string, what: string, remedy: string): KernelError {
  return errorWithCaret(name, text, undefined, 1, 1, what, remedy);
}

/** Returns a message that shows a position in a text: what is wrong, the line with a caret, and the remedy. */
export function messageWithCaret(text: string, line: number, column: number, what: string, remedy?: string): string {
  const shown = excerpt(text.split("\n")[line - 1] ?? "", column);
  return [
    what,
    `    ${shown.text}`,
    `    ${" ".repeat(shown.caret)}^`,
    ...(remedy === undefined ? [] : [`  remedy: ${remedy}`]),
  ].join("\n");
}

/** Returns the part of a line around a column, because minified kernels are one long line. */
function excerpt(line: string, column: number): { text: string; caret: number } {
  const width = 110;
  if (line.length <= width) return { text: line.replaceAll("\t", " "), caret: Math.max(0, column - 1) };
  const start = Math.max(0, column - 1 - width / 2);
  const text = (start > 0 ? "…" : "") + line.slice(start, start + width).replaceAll("\t", " ");
  return { text, caret: column - 1 - start + (start > 0 ? 1 : 0) };
}

/** Returns the first entry of a call stack outside the front end, where `kernel(…)` or `fn(…)` was called. */
export function declarationSite(stack: string | undefined): string | undefined {
  const frames = (stack ?? "").split("\n").slice(1);
  const frame = frames.find((f) => !/[\\/]kernel[\\/](declared\.|frontend[\\/]|math[\\/]define\.)/.test(f));
  const match = frame === undefined ? null : /\(?((?:file:\/\/)?[^\s()]+:\d+:\d+)\)?$/.exec(frame.trim());
  return match?.[1]?.replace(/^file:\/\//, "");
}
