/** Puts function bodies into a WebAssembly binary that imports its memory and exports some of the functions. */
import { Bytes, concatBytes } from "./bytes.ts";
import type { FunctionCode } from "./code.ts";
import type { ValueType } from "./opcodes.ts";
import { VALUE_TYPES } from "./opcodes.ts";

const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;

/** The memory that a WebAssembly module imports: whether threads share it, and its maximum size in pages of 64 KiB. */
export interface MemoryImport {
  readonly shared: boolean;
  readonly maximumPages: number;
}

/** Returns the bytes of a WebAssembly module with the given functions. `exported` has their numbers by name. */
export function moduleBytes(
  functions: readonly FunctionCode[],
  memory: MemoryImport,
  exported: Readonly<Record<string, number>>,
): Uint8Array<ArrayBuffer> {
  const head = new Bytes();
  for (const byte of [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) head.push(byte);
  section(head, SECTION.type, functions, signature);
  section(head, SECTION.import, [memory], memoryImport);
  section(head, SECTION.function, [...functions.keys()], (content, i) => content.unsigned(i));
  section(head, SECTION.export, Object.entries(exported), functionExport);
  return concatBytes([head.toArray(), ...codeSection(functions)]);
}

function section<T>(out: Bytes, id: number, items: readonly T[], write: (content: Bytes, item: T) => void): void {
  const content = new Bytes();
  content.unsigned(items.length);
  for (const item of items) write(content, item);
  out.push(id);
  out.unsigned(content.length);
  out.append(content);
}

/** Returns the code section in pieces, so that the functions' bodies are copied once. */
function codeSection(functions: readonly FunctionCode[]): Uint8Array[] {
  const count = new Bytes();
  count.unsigned(functions.length);
  const parts = [count.toArray(), ...functions.flatMap(body)];
  const head = new Bytes();
  head.push(SECTION.code);
  head.unsigned(parts.reduce((sum, part) => sum + part.length, 0));
  return [head.toArray(), ...parts];
}

function signature(out: Bytes, code: FunctionCode): void {
  out.push(0x60);
  for (const list of [code.params, code.results]) {
    out.unsigned(list.length);
    for (const type of list) out.push(VALUE_TYPES[type]);
  }
}

function memoryImport(out: Bytes, memory: MemoryImport): void {
  out.text("env");
  out.text("memory");
  for (const byte of [0x02, memory.shared ? 0x03 : 0x01, 1]) out.push(byte);
  out.unsigned(memory.maximumPages);
}

function functionExport(out: Bytes, [name, number]: readonly [string, number]): void {
  out.text(name);
  out.push(0x00);
  out.unsigned(number);
}

function body(code: FunctionCode): Uint8Array[] {
  const locals = new Bytes();
  const groups = runs(code.locals);
  locals.unsigned(groups.length);
  for (const [count, type] of groups) {
    locals.unsigned(count);
    locals.push(VALUE_TYPES[type]);
  }
  const end = 0x0b;
  const size = new Bytes();
  size.unsigned(locals.length + code.bytes.length + 1);
  return [size.toArray(), locals.toArray(), code.bytes.toArray(), Uint8Array.of(end)];
}

/** Returns the types of a function's locals with their counts, as WebAssembly declares them. */
function runs(locals: readonly ValueType[]): [number, ValueType][] {
  const out: [number, ValueType][] = [];
  for (const type of locals) {
    const last = out.at(-1);
    if (last !== undefined && last[1] === type) last[0]++;
    else out.push([1, type]);
  }
  return out;
}
