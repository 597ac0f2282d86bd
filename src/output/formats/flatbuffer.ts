/**
 * Writes FlatBuffers (https://flatbuffers.dev/internals), the encoding of the metadata of Arrow. Tables are written
 * from the root to the leaves, because offsets point forwards only.
 */

/** A field of a table: a number of some bytes, or a function that writes a child and returns its position. */
export type TableField =
  | { readonly bytes: 1 | 2 | 4 | 8; readonly value: number }
  | ((buffer: FlatBuffer) => number)
  | undefined;

/** A struct of 64-bit integers. A pair stands for two integers of 32 bits. */
export type IntegerStruct = readonly (number | readonly [number, number])[];

const sizeOf = (slot: TableField): number => (slot === undefined ? 0 : typeof slot === "function" ? 4 : slot.bytes);

/** A buffer into which a tree of tables is written; it grows as needed. */
export class FlatBuffer {
  #view = new DataView(new ArrayBuffer(1024));
  #length = 0;

  /** Returns the bytes of a buffer whose root table is written by `root`, padded to a multiple of 8 bytes. */
  static of(root: (buffer: FlatBuffer) => number): Uint8Array {
    const buffer = new FlatBuffer();
    buffer.#allocate(4);
    buffer.#point(0, root);
    buffer.#align(8, 0);
    return new Uint8Array(buffer.#view.buffer, 0, buffer.#length);
  }

  /** Writes a table with its fields in the order of the schema, and returns its position. */
  table(slots: readonly TableField[]): number {
    const vtableBytes = 4 + 2 * slots.length;
    this.#align(8, 4 - vtableBytes); // fields of 8 bytes come first, right behind the offset of 4 bytes
    const vtable = this.#allocate(vtableBytes);
    const order = [...slots.keys()].toSorted((a, b) => sizeOf(slots[b]) - sizeOf(slots[a]));
    let bytes = 4;
    for (const i of order) {
      if (slots[i] !== undefined) this.#view.setUint16(vtable + 4 + 2 * i, bytes, true);
      bytes += sizeOf(slots[i]);
    }
    this.#view.setUint16(vtable, vtableBytes, true);
    this.#view.setUint16(vtable + 2, bytes, true);
    const table = this.#allocate(bytes);
    this.#view.setInt32(table, table - vtable, true);
    for (const [i, slot] of slots.entries()) {
      if (slot === undefined) continue;
      const offset = table + this.#view.getUint16(vtable + 4 + 2 * i, true);
      if (typeof slot === "function") this.#point(offset, slot);
      else this.#set(offset, slot.bytes, slot.value);
    }
    return table;
  }

  /** Writes a list of tables or texts, and returns its position. */
  list(items: readonly ((buffer: FlatBuffer) => number)[]): number {
    this.#align(4, 0);
    const start = this.#allocate(4 + 4 * items.length);
    this.#view.setUint32(start, items.length, true);
    for (const [i, item] of items.entries()) this.#point(start + 4 + 4 * i, item);
    return start;
  }

  /** Writes a list of structs, and returns its position. */
  structs(items: readonly IntegerStruct[]): number {
    this.#align(8, 4);
    const start = this.#allocate(4);
    this.#view.setUint32(start, items.length, true);
    for (const entry of items.flat()) {
      const offset = this.#allocate(8);
      if (typeof entry === "number") this.#set(offset, 8, entry);
      else for (const [i, half] of entry.entries()) this.#set(offset + 4 * i, 4, half);
    }
    return start;
  }

  /** Writes a text in UTF-8, and returns its position. */
  text(text: string): number {
    const bytes = new TextEncoder().encode(text);
    this.#align(4, 0);
    const start = this.#allocate(4 + bytes.length + 1); // a zero ends it
    this.#view.setUint32(start, bytes.length, true);
    new Uint8Array(this.#view.buffer).set(bytes, start + 4);
    return start;
  }

  #point(offset: number, write: (buffer: FlatBuffer) => number): void {
    const target = write(this);
    this.#view.setUint32(offset, target - offset, true);
  }

  #set(offset: number, bytes: 1 | 2 | 4 | 8, value: number): void {
    if (bytes === 8) this.#view.setBigInt64(offset, BigInt(value), true);
    else if (bytes === 4) this.#view.setInt32(offset, value, true);
    else if (bytes === 2) this.#view.setInt16(offset, value, true);
    else this.#view.setInt8(offset, value);
  }

  /** Adds zeros until the length has the remainder by division by `unit`. */
  #align(unit: number, remainder: number): void {
    this.#allocate((((remainder - this.#length) % unit) + unit) % unit);
  }

  #allocate(bytes: number): number {
    const start = this.#length;
    this.#length += bytes;
    if (this.#length > this.#view.byteLength) {
      const larger = new Uint8Array(Math.max(this.#length, 2 * this.#view.byteLength));
      larger.set(new Uint8Array(this.#view.buffer));
      this.#view = new DataView(larger.buffer);
    }
    return start;
  }
}
