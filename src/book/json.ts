import { BookError } from "../errors.ts";
import { findJsonProblem } from "./json-scan.ts";
import { quote, show } from "./names.ts";

/**
 * JSON text as plain data; a byte order mark before it is let pass.
 * @param where what the text is, for the message: `line 17`, or nothing for a whole book
 * @throws BookError `not JSON: line 3, column 14: expected ',' or '}', got "x"`
 */
export function parseJson(text: string, where = ""): unknown {
  if (typeof text !== "string")
    throw new BookError(where, `expected JSON as text, got ${show(text)}; of plain data readBook makes a book`);
  const plain = text.startsWith("\ufeff") ? text.slice(1) : text;
  try {
    return JSON.parse(plain) as unknown;
  } catch (cause) {
    throw new BookError(where, describeProblem(plain, where !== ""), { cause });
  }
}

/** One line of a stream has its number already, so only the column is said. */
function describeProblem(text: string, oneLine: boolean): string {
  if (text.trim() === "") return "expected JSON, got nothing";
  const problem = findJsonProblem(text);
  if (problem === undefined) return "not JSON that can be read (nested too deeply, or too long)";
  const { offset, expected } = problem;
  const before = text.slice(0, offset);
  const column = offset - before.lastIndexOf("\n");
  const line = before.split("\n").length;
  const got =
    offset < text.length ? quote(String.fromCodePoint(text.codePointAt(offset) as number)) : "the end of the text";
  return `not JSON: ${oneLine ? "" : `line ${line}, `}column ${column}: expected ${expected}, got ${got}`;
}
