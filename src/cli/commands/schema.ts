import { bookJsonSchema } from "../../book/index.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `feynkac schema`, which prints the JSON Schema of a book, for editors. */
export function schema({ stdout }: Terminal): void {
  stdout.write(`${JSON.stringify(bookJsonSchema(), undefined, 2)}\n`);
}
