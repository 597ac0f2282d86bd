/** The body of one function under construction. Instructions are appended in the order of the stack machine. */
import { Bytes } from "./bytes.ts";
import type { LaneOp, MemoryOp, OpName, PlainOp, ValueType } from "./opcodes.ts";
import { naturalAlignment, OPCODES, VALUE_TYPES } from "./opcodes.ts";

/** A byte position in generated code, and the line of the kernel's source from which the code at it comes. */
export interface SourceMark {
  readonly at: number;
  readonly text: string;
}

/** A label of a block that `br` can leave: the nesting depth of the block. */
export type Label = number;

/** The code of a WebAssembly function under construction. */
export class FunctionCode {
  readonly bytes = new Bytes();
  /** The source lines for the listing, with the byte positions at which their code begins. */
  readonly marks: SourceMark[] = [];
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];
  readonly locals: ValueType[] = [];
  private depth = 0;

  constructor(params: readonly ValueType[], results: readonly ValueType[]) {
    this.params = params;
    this.results = results;
  }

  addLocal(type: ValueType): number {
    return this.params.length + this.locals.push(type) - 1;
  }

  mark(text: string): void {
    this.marks.push({ at: this.bytes.length, text });
  }

  op(name: PlainOp): this {
    return this.opcode(name);
  }

  get(local: number): this {
    return this.indexed("local.get", local);
  }

  set(local: number): this {
    return this.indexed("local.set", local);
  }

  tee(local: number): this {
    return this.indexed("local.tee", local);
  }

  call(index: number): this {
    return this.indexed("call", index);
  }

  i32(value: number): this {
    this.opcode("i32.const");
    this.bytes.signed(value);
    return this;
  }

  f32(value: number): this {
    this.opcode("f32.const");
    this.bytes.float32(value);
    return this;
  }

  f64(value: number): this {
    this.opcode("f64.const");
    this.bytes.float64(value);
    return this;
  }

  /** Emits a vector constant of four 32-bit integers, lowest lane first. */
  v128(words: readonly [number, number, number, number]): this {
    this.opcode("v128.const");
    for (const word of words) this.bytes.word(word);
    return this;
  }

  /** Emits a shuffle that selects four 32-bit lanes: 0–3 are those of the first operand, 4–7 those of the second. */
  shuffleWords(words: readonly [number, number, number, number]): this {
    this.opcode("i8x16.shuffle");
    for (const word of words) for (let i = 0; i < 4; i++) this.bytes.push(word * 4 + i);
    return this;
  }

  lane(name: LaneOp, lane: number): this {
    this.opcode(name).bytes.push(lane);
    return this;
  }

  memory(name: MemoryOp, offset: number): this {
    this.opcode(name);
    this.bytes.unsigned(naturalAlignment(name));
    this.bytes.unsigned(offset);
    return this;
  }

  memoryLane(name: MemoryOp, offset: number, lane: number): this {
    this.memory(name, offset).bytes.push(lane);
    return this;
  }

  block(type?: ValueType): Label {
    return this.open("block", type);
  }

  loop(): Label {
    return this.open("loop");
  }

  if(type?: ValueType): Label {
    return this.open("if", type);
  }

  else(): this {
    return this.opcode("else");
  }

  end(): this {
    this.depth--;
    return this.opcode("end");
  }

  br(label: Label): this {
    return this.indexed("br", this.depth - label);
  }

  brIf(label: Label): this {
    return this.indexed("br_if", this.depth - label);
  }

  private open(name: "block" | "loop" | "if", type?: ValueType): Label {
    this.opcode(name).bytes.push(type === undefined ? 0x40 : VALUE_TYPES[type]);
    return ++this.depth;
  }

  private indexed(name: OpName, index: number): this {
    this.opcode(name);
    this.bytes.unsigned(index);
    return this;
  }

  private opcode(name: OpName): this {
    const opcode: number = OPCODES[name];
    if (opcode < 0x100) this.bytes.push(opcode);
    else {
      this.bytes.push(opcode >>> 16);
      this.bytes.unsigned(opcode & 0xffff);
    }
    return this;
  }
}
