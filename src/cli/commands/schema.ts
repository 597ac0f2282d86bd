import { bookJsonSchema } from "../../book/index.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `feynkac schema`: prints the book's format as JSON Schema, for editors. */
export function schema({ stdout }: Terminal): void {
  stdout.write(`${JSON.stringify(bookJsonSchema(), undefined, 2)}\n`);
}
