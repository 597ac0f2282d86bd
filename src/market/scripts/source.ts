/** The text of an event: its syntax tree, and errors that show a place in it with a caret. */
import { type Node, parse } from "acorn";
import { KernelError } from "../../base/errors.ts";
import { describeNode, messageWithCaret, placeInFormula, unreadable, withPowers } from "../../kernel/index.ts";

const MAX_LENGTH = 10_000;

/** The text of one event of a script. */
export class EventSource {
  /** The script's name, and the number of the event from 1, in error messages. */
  readonly name: string;
  readonly text: string;

  constructor(name: string, text: string) {
    this.name = name;
    this.text = text;
  }

  /** Returns the syntax trees of the event's statements. @throws KernelError */
  parse(): readonly Node[] {
    if (this.text.length > MAX_LENGTH)
      throw this.error(0, `${this.text.length} characters, expected at most ${MAX_LENGTH}`, "split the event");
    const text = withPowers(this.text);
    try {
      const options = { ecmaVersion: 2023, sourceType: "script", preserveParens: true } as const;
      return parse(text, { ...options, allowReturnOutsideFunction: true }).body;
    } catch (error) {
      const { pos = 0, message } = error as { readonly pos?: number; readonly message: string };
      const what = unreadable(text, Math.min(pos, text.length), message, "event");
      throw this.error(Math.min(pos, text.length), what, "write statements such as pay(max(S - strike, 0))");
    }
  }

  /** Returns the error of a mistake at a position in the syntax tree. */
  error(position: number, what: string, remedy: string): KernelError {
    const { line, column } = placeInFormula(this.text, position);
    const said = messageWithCaret(this.text, line, column, what, remedy);
    const place = { line, column, name: this.name, source: this.text, what: said };
    return new KernelError(`${this.name}, line ${line}, column ${column}: ${said}`, place);
  }

  /** Returns the error of a node that has no place in a script. */
  unexpected(node: Node, remedy: string): KernelError {
    return this.error(node.start, `${describeNode(node)} is not part of a script`, remedy);
  }
}
