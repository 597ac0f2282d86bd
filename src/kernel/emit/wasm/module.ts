/** Puts function bodies into a WebAssembly binary that imports its memory and exports its first function as `run`. */
import { Bytes } from "./bytes.ts";
import type { Code } from "./code.ts";
import type { ValueType } from "./opcodes.ts";
import { VALUE_TYPES } from "./opcodes.ts";

const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;

export interface MemoryImport {
  readonly shared: boolean;
  readonly maximumPages: number;
}

export function moduleBytes(functions: readonly Code[], memory: MemoryImport): Uint8Array<ArrayBuffer> {
  const out = new Bytes();
  for (const byte of [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0]) out.push(byte);
  section(out, SECTION.type, functions, signature);
  section(out, SECTION.import, [memory], memoryImport);
  section(out, SECTION.function, [...functions.keys()], (content, i) => content.unsigned(i));
  section(out, SECTION.export, ["run"], runExport);
  section(out, SECTION.code, functions, body);
  return out.view();
}

function section<T>(out: Bytes, id: number, items: readonly T[], write: (content: Bytes, item: T) => void): void {
  const content = new Bytes();
  content.unsigned(items.length);
  for (const item of items) write(content, item);
  out.push(id);
  sized(out, content);
}

function sized(out: Bytes, content: Bytes): void {
  out.unsigned(content.length);
  out.append(content.view());
}

function signature(out: Bytes, code: Code): void {
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

function runExport(out: Bytes, name: string): void {
  out.text(name);
  out.push(0x00);
  out.push(0);
}

function body(out: Bytes, code: Code): void {
  const content = new Bytes();
  const groups = runs(code.locals);
  content.unsigned(groups.length);
  for (const [count, type] of groups) {
    content.unsigned(count);
    content.push(VALUE_TYPES[type]);
  }
  content.append(code.bytes.view());
  content.push(0x0b);
  sized(out, content);
}

/** Locals are declared as runs of one type. */
function runs(locals: readonly ValueType[]): [number, ValueType][] {
  const out: [number, ValueType][] = [];
  for (const type of locals) {
    const last = out.at(-1);
    if (last !== undefined && last[1] === type) last[0]++;
    else out.push([1, type]);
  }
  return out;
}
