/** Where a local is mentioned: the nesting of statement lists, and which of them only some items may run. */

/** The statements that the same items run; a nested one's items are a part of its parent's. */
export interface Region {
  readonly parent: Region | null;
}

/** One statement list. */
export interface Block {
  readonly parent: Block | null;
  readonly depth: number;
  readonly region: Region;
}

/** Every mention of one local. */
export interface Mentions {
  home: Block;
  readonly first: { readonly block: Block; readonly write: boolean };
  readonly writes: Region[];
}

/** A list inside `parent`; `apart`: not all of its items need run it. */
export function nested(parent: Block, apart: boolean): Block {
  return { parent, depth: parent.depth + 1, region: apart ? { parent: parent.region } : parent.region };
}

/** The innermost block around both. */
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
