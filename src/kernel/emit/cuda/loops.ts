import { unrolls } from "../../unroll.ts";
import type { LoopParts } from "../c-like/dialect.ts";
import type { Lines } from "../c-like/lines.ts";
import type { Names } from "../c-like/names.ts";

/**
 * Prints a loop. If its test and its update are single expressions, they become the head of a `for` statement.
 * Otherwise the update is printed at the top of the loop's body and skipped in the first iteration. In both forms
 * `continue` executes the update.
 */
export function printLoop(names: Names, parts: LoopParts, out: Lines): void {
  const test = testOf(parts, out);
  const update = updateOf(names, parts, out);
  if (test === undefined || update === undefined) return printGeneral(names, parts, out);
  if (unrolls(parts.statement)) out.add("#pragma unroll");
  out.block(headOf(test, update), () => parts.body(out));
}

function headOf(test: string, update: string): string {
  if (update !== "") return `for (; ${test}; ${update}) {`;
  return test === "" ? "while (true) {" : `while (${test}) {`;
}

/** Returns the test as one expression; undefined if it needs statements before it. */
function testOf({ statement: { test }, print }: LoopParts, out: Lines): string | undefined {
  const prelude = out.fork();
  const text = test === null ? "" : print(test, prelude);
  return prelude.isEmpty ? text : undefined;
}

/** Returns the update as one expression of assignments; undefined if that is impossible. */
function updateOf(names: Names, { statement: { update }, print }: LoopParts, out: Lines): string | undefined {
  const prelude = out.fork();
  const texts = update.map((s) =>
    s.kind === "assign" ? `${names.local(s.local)} = ${print(s.value, prelude)}` : null,
  );
  return prelude.isEmpty && !texts.includes(null) ? texts.join(", ") : undefined;
}

/**
 * Prints a loop with its update at the top of its body, skipped in the first iteration, so that `continue` reaches it.
 */
function printGeneral(names: Names, { test, body, update }: LoopParts, out: Lines): void {
  const again = names.temporary();
  out.block(`for (bool ${again} = false;; ${again} = true) {`, () => {
    if (update !== null) out.block(`if (${again}) {`, () => update(out));
    if (test !== null) out.add(`if (!${test(out)}) break;`);
    body(out);
  });
}
