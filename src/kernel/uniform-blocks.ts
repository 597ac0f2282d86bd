/**
 * The places where a local variable is read and written: the nesting of statement lists, and which of them only some
 * work items may execute.
 */
import type { Stmt } from "./ir.ts";

/**
 * A list of statements in the analysis of which values are the same for all work items. A loop has two blocks: one for
 * `init`, test and `update` together, and inside it one for the body.
 */
export interface Block {
  readonly parent: Block | null;
  readonly depth: number;
  /** The `if` or loop to which the block belongs. */
  readonly of: Stmt | null;
  /** The outermost enclosing block that, as far as is known, the same work items execute. */
  region: Block;
}

/** The blocks in which one local variable is read or written. */
export interface Mentions {
  /** The innermost block that contains all of them. */
  home: Block;
  readonly first: { readonly block: Block; readonly write: boolean };
  readonly writes: Block[];
}

/** Returns a new block inside `parent` that belongs to the `if` or loop `of`. */
export function newBlock(parent: Block | null, of: Stmt | null): Block {
  const block = { parent, depth: parent === null ? 0 : parent.depth + 1, of } as Block;
  block.region = block;
  return block;
}

/** Returns the innermost block that contains both blocks. */
export function common(a: Block, b: Block): Block {
  let x = a;
  let y = b;
  while (x.depth > y.depth && x.parent !== null) x = x.parent;
  while (y.depth > x.depth && y.parent !== null) y = y.parent;
  while (x !== y && x.parent !== null && y.parent !== null) {
    x = x.parent;
    y = y.parent;
  }
  return x;
}
