/** The driver API as the emulator's tests use it: koffi, every argument a 64-bit number. */
import koffi from "koffi";
import { buildCudaEmulator, controlCudaEmulator, type CudaEmulatorControl } from "../../tools/cuda-emulator/index.ts";

export const SUCCESS = 0;
export const INVALID_VALUE = 1;
export const OUT_OF_MEMORY = 2;
export const NO_BINARY_FOR_GPU = 209;
export const NOT_READY = 600;
export const ILLEGAL_ADDRESS = 700;
export const LAUNCH_FAILED = 719;
export const CAPTURE_UNSUPPORTED = 900;
export const CAPTURE_INVALIDATED = 901;
export const CAPTURE_UNJOINED = 904;
export const CAPTURED_EVENT = 907;

type Library = ReturnType<typeof koffi.load>;
type Argument = number | bigint | string | ArrayBufferView | null;

export interface Dimensions {
  readonly grid: readonly [number, number?, number?];
  readonly block: readonly [number, number?, number?];
  readonly shared?: number;
  readonly stream?: bigint;
}

/** A kernel's argument: an address, or a scalar in an array of one element. */
export type KernelArgument = bigint | Float64Array | Int32Array | Uint32Array;

export class EmulatedGpu {
  readonly control: CudaEmulatorControl;
  readonly #driver: Library;
  readonly #nvrtc: Library;
  #context = 0n;

  constructor(driver: string, nvrtc: string, control: CudaEmulatorControl) {
    this.#driver = koffi.load(driver);
    this.#nvrtc = koffi.load(nvrtc);
    this.control = control;
  }

  /** Calls a function of the driver; numbers and addresses are passed as 64 bits, arrays as pointers. */
  status(name: string, ...args: readonly Argument[]): number {
    return call(this.#driver, name, args);
  }

  /** As `status`, which must be success. */
  do(name: string, ...args: readonly Argument[]): void {
    const status = this.status(name, ...args);
    if (status !== SUCCESS) throw new Error(`${name}: status ${status}: ${this.control.lastFault}`);
  }

  /** A call whose first argument receives a 64-bit word. */
  get(name: string, ...args: readonly Argument[]): bigint {
    const word = new BigUint64Array(1);
    this.do(name, word, ...args);
    return word[0];
  }

  /** A call whose last argument receives a 64-bit word. */
  getLast(name: string, ...args: readonly Argument[]): bigint {
    const word = new BigUint64Array(1);
    this.do(name, ...args, word);
    return word[0];
  }

  /** A context of its own, current. */
  open(): void {
    this.do("cuInit", 0);
    this.#context = this.get("cuCtxCreate_v2", 0, 0);
  }

  close(): number {
    return this.status("cuCtxDestroy_v2", this.#context);
  }

  compile(source: string, options: readonly string[] = []): { status: number; log: string; image: Uint8Array } {
    const word = new BigUint64Array(1);
    call(this.#nvrtc, "nvrtcCreateProgram", [word, source, "kernels.cu", 0, 0, 0]);
    const program = word[0];
    const all = ["--gpu-architecture=sm_90", "--fmad=false", ...options];
    const compileProgram = this.#nvrtc.func("nvrtcCompileProgram", "int", ["uint64", "int", "const char **"]);
    const status = compileProgram(program, all.length, all) as number;
    const read = (size: string, text: string): Uint8Array => {
      call(this.#nvrtc, size, [program, word]);
      const bytes = new Uint8Array(Number(word[0]));
      call(this.#nvrtc, text, [program, bytes]);
      return bytes;
    };
    const log = Buffer.from(read("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")).toString("utf8").slice(0, -1);
    const image = status === SUCCESS ? read("nvrtcGetCUBINSize", "nvrtcGetCUBIN") : new Uint8Array(0);
    word[0] = program;
    call(this.#nvrtc, "nvrtcDestroyProgram", [word]);
    return { status, log, image };
  }

  /** Compiles and loads; gives a way to each kernel. */
  load(source: string, options: readonly string[] = []): (name: string) => bigint {
    const { status, log, image } = this.compile(source, options);
    if (status !== SUCCESS) throw new Error(`NVRTC ${status}: ${log}`);
    const module = this.get("cuModuleLoadData", image);
    return (name) => this.get("cuModuleGetFunction", module, name);
  }

  launch(
    kernel: bigint,
    { grid, block, shared = 0, stream = 0n }: Dimensions,
    args: readonly KernelArgument[],
  ): number {
    const cells = args.map((arg) => (typeof arg === "bigint" ? BigUint64Array.of(arg) : arg));
    const pointers = BigUint64Array.from(cells, (cell) => koffi.address(cell.buffer));
    const [gx, gy = 1, gz = 1] = grid;
    const [bx, by = 1, bz = 1] = block;
    return this.status("cuLaunchKernel", kernel, gx, gy, gz, bx, by, bz, shared, stream, pointers, 0);
  }

  allocate(bytes: number): bigint {
    return this.get("cuMemAlloc_v2", bytes);
  }

  upload(values: Float64Array | Int32Array | Uint32Array): bigint {
    const at = this.allocate(values.byteLength);
    this.do("cuMemcpyHtoD_v2", at, values, values.byteLength);
    return at;
  }

  download<T extends Float64Array | Int32Array | Uint32Array>(into: T, from: bigint): T {
    this.do("cuMemcpyDtoH_v2", into, from, into.byteLength);
    return into;
  }

  /** Page-locked memory, and JavaScript's view of it. */
  pinned(doubles: number): { address: bigint; view: Float64Array } {
    const address = this.get("cuMemHostAlloc", doubles * 8, 0);
    const pointer = koffi.decode(BigUint64Array.of(address), "void *");
    return { address, view: new Float64Array(koffi.view(pointer, doubles * 8)) };
  }
}

function call(library: Library, name: string, args: readonly Argument[]): number {
  const types = args.map((arg) =>
    typeof arg === "string" ? "str" : typeof arg === "number" || typeof arg === "bigint" ? "uint64" : "void *",
  );
  return library.func(name, "int", types)(...args) as number;
}

/** Undefined where g++ is missing. */
export async function openEmulatedGpu(): Promise<EmulatedGpu | undefined> {
  const paths = await buildCudaEmulator();
  const control = paths && (await controlCudaEmulator(paths));
  return paths && control && new EmulatedGpu(paths.driver, paths.nvrtc, control);
}
