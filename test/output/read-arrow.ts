/** Reads Arrow IPC streams, by the published schema (format/Message.fbs), with checks of alignment. */
import { strict as assert } from "node:assert";

/** A table of a flat buffer: the view of the buffer, and the table's position. */
class Table {
  readonly view: DataView;
  readonly at: number;
  constructor(view: DataView, at: number) {
    this.view = view;
    this.at = at;
  }
  place(field: number): number | undefined {
    const vtable = this.at - this.view.getInt32(this.at, true);
    if (4 + 2 * field >= this.view.getUint16(vtable, true)) return undefined;
    const offset = this.view.getUint16(vtable + 4 + 2 * field, true);
    return offset === 0 ? undefined : this.at + offset;
  }
  child(field: number): number | undefined {
    const place = this.place(field);
    if (place === undefined) return undefined;
    assert.equal(place % 4, 0);
    return place + this.view.getUint32(place, true);
  }
  table(field: number): Table {
    return new Table(this.view, this.child(field) ?? assert.fail("no table"));
  }
  byte(field: number): number {
    return this.view.getUint8(this.place(field) ?? assert.fail("no byte"));
  }
  long(field: number): number {
    return longAt(this.view, this.place(field) ?? assert.fail("no number"));
  }
  tables(field: number): Table[] {
    const start = this.child(field);
    if (start === undefined) return [];
    return Array.from({ length: this.view.getUint32(start, true) }, (_, i) => {
      const place = start + 4 + 4 * i;
      return new Table(this.view, place + this.view.getUint32(place, true));
    });
  }
  text(field: number): string {
    const start = this.child(field) ?? assert.fail("no text");
    const length = this.view.getUint32(start, true);
    assert.equal(this.view.getUint8(start + 4 + length), 0, "a zero ends a text");
    return Buffer.from(this.view.buffer, this.view.byteOffset + start + 4, length).toString();
  }
  pairs(field: number): [number, number][] {
    const start = this.child(field) ?? assert.fail("no structs");
    return Array.from({ length: this.view.getUint32(start, true) }, (_, i) => {
      const place = start + 4 + 16 * i;
      return [longAt(this.view, place), longAt(this.view, place + 8)];
    });
  }
}

function longAt(view: DataView, place: number): number {
  assert.equal(place % 8, 0, "numbers of 8 bytes lie at multiples of 8");
  return Number(view.getBigInt64(place, true));
}

/** A message of a stream: the schema, or a record batch with the buffers of its body. */
export interface Message {
  readonly rows: number | undefined;
  readonly fields: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly nodes: readonly [number, number][];
  readonly buffers: readonly Buffer[];
}

/** The messages of a stream up to its end. */
export function readMessages(stream: Uint8Array): Message[] {
  const bytes = Buffer.from(stream); // a copy that starts at a multiple of 8
  const messages: Message[] = [];
  for (let at = 0; ;) {
    assert.equal(bytes.readInt32LE(at), -1);
    const length = bytes.readInt32LE(at + 4);
    if (length === 0) return messages;
    assert.equal(length % 8, 0);
    const metadata = new Uint8Array(bytes.subarray(at + 8, at + 8 + length));
    const view = new DataView(metadata.buffer);
    const message = new Table(view, view.getUint32(0, true));
    const body = at + 8 + length;
    messages.push(readMessage(message, bytes.subarray(body, body + message.long(3))));
    at = body + message.long(3);
  }
}

/** The parts of a file that its footer tells of, each as a stream of one message. */
export function blocksOf(file: Uint8Array): Uint8Array[] {
  const bytes = Buffer.from(file);
  const end = bytes.length - 10; // the length of the footer, and the mark
  const length = bytes.readInt32LE(end);
  const { buffer } = new Uint8Array(bytes.subarray(end - length, end));
  const view = new DataView(buffer);
  const footer = new Table(view, view.getUint32(0, true));
  assert.ok(footer.table(1).tables(1).length > 0, "a schema");
  const [none, blocks] = [2, 3].map((field) => footer.child(field) ?? assert.fail("no blocks"));
  assert.equal(view.getUint32(none, true), 0, "no dictionaries");
  return Array.from({ length: view.getUint32(blocks, true) }, (_, i) => {
    const place = blocks + 4 + 24 * i;
    const [from, body] = [longAt(view, place), longAt(view, place + 16)];
    const to = from + view.getInt32(place + 8, true) + body;
    return Buffer.concat([bytes.subarray(from, to), Buffer.from(Int32Array.of(-1, 0).buffer)]);
  });
}

function readMessage(message: Table, body: Buffer): Message {
  const isBatch = message.byte(1) === 3;
  const header = message.table(2);
  const about = isBatch ? message.tables(4) : header.tables(2);
  return {
    rows: isBatch ? header.long(0) : undefined,
    fields: isBatch ? [] : header.tables(1).map(nullable),
    metadata: Object.fromEntries(about.map((pair) => [pair.text(0), pair.text(1)])),
    nodes: isBatch ? header.pairs(1) : [],
    buffers: isBatch ? header.pairs(2).map(([from, length]) => body.subarray(from, from + length)) : [],
  };
}

/** The name of a field, which may be null. */
function nullable(field: Table): string {
  assert.equal(field.byte(1), 1);
  return field.text(0);
}

type Kind = "string" | "number" | "strings" | "numbers";

/** The rows of the record batches among messages. */
export function batchesOf(messages: readonly Message[], columns: readonly { name: string; type: Kind }[]): object[][] {
  return messages
    .filter(({ rows }) => rows !== undefined)
    .map(({ rows = 0, nodes, buffers }) => {
      const [nodesLeft, buffersLeft] = [[...nodes], [...buffers]];
      const cells = columns.map(({ type }) => readColumn(type, nodesLeft, buffersLeft));
      return Array.from({ length: rows }, (_, i) =>
        Object.fromEntries(columns.map(({ name }, k) => [name, cells[k][i]])),
      );
    });
}

function readColumn(type: Kind, nodes: [number, number][], buffers: Buffer[]): unknown[] {
  const [length, nulls] = nodes.shift() ?? assert.fail("no node");
  const bits = buffers.shift() ?? assert.fail("no validity");
  const isNull = (i: number): boolean => nulls > 0 && ((bits[i >> 3] >> (i & 7)) & 1) === 0;
  const first = buffers.shift() ?? assert.fail("no buffer");
  const values = ((): unknown[] => {
    if (type === "number") return Array.from({ length }, (_, i) => first.readDoubleLE(8 * i));
    const slices = Array.from({ length }, (_, i) => [first.readInt32LE(4 * i), first.readInt32LE(4 * i + 4)]);
    if (type === "string") {
      const data = buffers.shift() ?? assert.fail("no text");
      return slices.map(([from, to]) => data.subarray(from, to).toString());
    }
    const items = readColumn(type === "strings" ? "string" : "number", nodes, buffers);
    return slices.map(([from, to]) => items.slice(from, to));
  })();
  const cells = values.map((value, i) => (isNull(i) ? null : value));
  assert.equal(cells.filter((cell) => cell === null).length, nulls);
  return cells;
}
