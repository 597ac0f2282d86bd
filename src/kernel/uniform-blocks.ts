/**
 * The places at which a local is mentioned: the nesting of statement lists, and which of them only some items may run.
 */
import type { Stmt } from "./ir.ts";

/**
 * A list of statements in the analysis of uniformity. A loop has two: `init`, test and `update` together, and the body
 * inside that.
 */
export interface Block {
  readonly parent: Block | null;
  readonly depth: number;
  /** The `if` or loop that it is a part of. */
  readonly of: Stmt | null;
  /** The outermost block around that is run by the same items; so far as is known. */
  region: Block;
}

/** The mentions of one local, by block. */
export interface Mentions {
  home: Block;
  readonly first: { readonly block: Block; readonly write: boolean };
  readonly writes: Block[];
}

/** Returns a block within `parent`. */
export function newBlock(parent: Block | null, of: Stmt | null): Block {
  const block = { parent, depth: parent === null ? 0 : parent.depth + 1, of } as Block;
  block.region = block;
  return block;
}

/** Returns the innermost block around both. */
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
