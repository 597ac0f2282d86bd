import { bookJsonSchema } from "../../book/index.ts";
import type { Terminal } from "../terminal.ts";

/** Runs `feynkac schema`, which prints the book's format as JSON Schema, which editors complete and check by. */
export function schema({ stdout }: Terminal): void {
  stdout.write(`${JSON.stringify(bookJsonSchema(), undefined, 2)}\n`);
}
