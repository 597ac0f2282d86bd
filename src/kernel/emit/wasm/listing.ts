/** Returns a kernel's instructions as text, each group of them below the source line from which it comes. */
import type { KernelIR } from "../../ir.ts";
import type { FunctionCode } from "./code.ts";
import type { NamedFunction } from "./emitter.ts";
import { OPCODES } from "./opcodes.ts";
import type { CodePlan } from "./plan.ts";

interface Reader {
  readonly bytes: Uint8Array;
  readonly names: ReadonlyMap<number, string>;
  at: number;
}

/** Returns a readable listing of the generated WebAssembly functions, with the kernel's source lines. */
export function wasmListing(ir: KernelIR, plan: CodePlan, functions: readonly NamedFunction[]): string {
  const head = [
    `;; kernel ${ir.name}, ${ir.precision}: ${plan.vectors} vectors of ${plan.lanes} lanes, ${plan.chunk} items a chunk`,
    `;; buffers ${ir.buffers.map((b) => b.name).join(", ")}; scalars ${ir.scalars.map((p) => p.name).join(", ")}`,
  ];
  const names = new Map<number, string>(Object.entries(OPCODES).map(([name, code]) => [code, name]));
  return [...head, ...functions.map(({ name, code }, i) => functionText(ir, code, `$${i} ${name}`, names))].join("\n");
}

function functionText(ir: KernelIR, code: FunctionCode, name: string, names: ReadonlyMap<number, string>): string {
  const lines = [`func ${name} (${code.params.join(" ")}) → (${code.results.join(" ")}), ${code.locals.length} locals`];
  const r: Reader = { bytes: code.bytes.toArray(), names, at: 0 };
  let depth = 1;
  let mark = 0;
  let last = "";
  while (r.at < r.bytes.length) {
    for (; mark < code.marks.length && code.marks[mark].at <= r.at; mark++) {
      const text = sourceLine(ir, code.marks[mark].text);
      if (text !== last) lines.push(`${"  ".repeat(depth)};; ${text}`);
      last = text;
    }
    const [op, operands] = instruction(r);
    if (op === "end" || op === "else") depth--;
    lines.push(`${"  ".repeat(depth)}${op}${operands}`);
    if (op === "block" || op === "loop" || op === "if" || op === "else") depth++;
  }
  return lines.join("\n");
}

/** Returns the source line for a mark, which is `source:line` of a statement's position, or a remark. */
function sourceLine(ir: KernelIR, mark: string): string {
  const place = /^(\d+):(\d+)$/.exec(mark);
  if (place === null) return mark;
  const source = ir.sources.at(Number(place[1]));
  const line =
    source?.text
      .split("\n")
      .at(Number(place[2]) - 1)
      ?.trim() ?? "";
  return source === undefined ? mark : `${source.name}:${place[2]} ${line}`;
}

function instruction(r: Reader): [name: string, operands: string] {
  let opcode = r.bytes[r.at++];
  if (opcode >= 0xfc) opcode = (opcode << 16) | leb(r, false);
  const name = r.names.get(opcode) ?? `0x${opcode.toString(16)}`;
  return [name, immediates(r, name)];
}

function immediates(r: Reader, name: string): string {
  if (/load|store|atomic/.test(name)) {
    leb(r, false);
    const offset = leb(r, false);
    return (offset === 0 ? "" : ` offset=${offset}`) + (name.endsWith("_lane") ? ` ${r.bytes[r.at++]}` : "");
  }
  if (/^local|^br|^call/.test(name)) return ` ${leb(r, false)}`;
  if (/_lane/.test(name)) return ` ${r.bytes[r.at++]}`;
  if (/^(block|loop|if)$/.test(name)) return r.bytes[r.at++] === 0x40 ? "" : " (result)";
  if (name === "i32.const") return ` ${leb(r, true)}`;
  return constantText(r, name);
}

function constantText(r: Reader, name: string): string {
  const size = { "f32.const": 4, "f64.const": 8, "v128.const": 16, "i8x16.shuffle": 16 }[name] ?? 0;
  if (size === 0) return "";
  const view = new DataView(r.bytes.slice(r.at, r.at + size).buffer);
  r.at += size;
  if (size === 4) return ` ${view.getFloat32(0, true)}`;
  if (size === 8) return ` ${view.getFloat64(0, true)}`;
  const words = [0, 4, 8, 12].map((at) => view.getUint32(at, true));
  return name === "v128.const"
    ? ` ${words.map((w) => `0x${w.toString(16)}`).join(" ")}`
    : ` ${words.map((w) => (w & 0xff) / 4).join(" ")}`;
}

function leb(r: Reader, isSigned: boolean): number {
  let value = 0;
  let shift = 0;
  let byte;
  do {
    byte = r.bytes[r.at++];
    value |= (byte & 0x7f) << shift;
    shift += 7;
  } while (byte >= 0x80);
  return isSigned && shift < 32 && (byte & 0x40) !== 0 ? value | (-1 << shift) : isSigned ? value : value >>> 0;
}
