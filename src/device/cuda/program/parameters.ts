/** The arguments of a launch as the driver takes them: an array of pointers, one to each value. */
import type { KernelSignature } from "../../../kernel/index.ts";
import type { CudaParameter } from "../../../kernel/emit/cuda/index.ts";
import { writeScalarArgument } from "../../arguments.ts";
import type { LaunchArguments } from "../../device.ts";
import type { CudaBuffer } from "../memory/blocks.ts";
import { addressOf, type Koffi } from "../ffi/koffi.ts";

const WORD = 8;
const HIGH = 2 ** 32;

/**
 * The block of memory with the arguments of a launch. All launches of a program reuse it, because the driver copies the
 * values before a launch returns.
 */
export class ParameterBlock {
  /** The address of the array of pointers to arguments. */
  readonly address: number;
  readonly #parameters: readonly CudaParameter[];
  readonly #view: DataView;

  constructor(koffi: Koffi, parameters: readonly CudaParameter[]) {
    const count = parameters.length;
    const memory = new ArrayBuffer(2 * WORD * Math.max(1, count));
    this.address = addressOf(koffi, memory);
    this.#parameters = parameters;
    this.#view = new DataView(memory);
    for (let i = 0; i < count; i++) this.#setWord(i * WORD, this.address + (count + i) * WORD);
  }

  /** Writes the arguments of a launch. @throws ShapeError */
  fill(signature: KernelSignature, args: LaunchArguments, buffers: readonly CudaBuffer[], count: number): void {
    const parameters = this.#parameters;
    let at = parameters.length * WORD;
    for (const parameter of parameters) {
      switch (parameter.kind) {
        case "count":
          this.#view.setUint32(at, count, true);
          break;
        case "buffer":
          this.#setWord(at, buffers[parameter.buffer].memory.address);
          break;
        case "length":
          this.#setWord(at, buffers[parameter.buffer].length);
          break;
        case "scalar":
          writeScalarArgument(this.#view, at, signature, signature.scalars[parameter.scalar], args);
          break;
        default:
          parameter satisfies never;
      }
      at += WORD;
    }
  }

  /** A whole number below 2⁵³. */
  #setWord(at: number, value: number): void {
    this.#view.setUint32(at, value, true); // modulo 2³²
    this.#view.setUint32(at + 4, value / HIGH, true);
  }
}
