/** cuRAND's bulk uniforms of f32 in a buffer of a device of ours, as a peer. */
import type { CudaDevice, DeviceBuffer, ForeignCalls, ForeignDescription } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";

const functions = {
  curandCreateGenerator: ["u64", "i32"],
  curandDestroyGenerator: ["u64"],
  curandSetStream: ["u64", "u64"],
  curandSetPseudoRandomGeneratorSeed: ["u64", "u64"],
  curandGenerateSeeds: ["u64"],
  curandGenerateUniform: ["u64", "u64", "u64"],
} as const;

const description: ForeignDescription<typeof functions> = {
  title: "cuRAND",
  names: ["libcurand.so.10", "libcurand.so"],
  windowsName: /^curand64_\d+\.dll$/i,
  pip: "curand",
  variable: "FEYNKAC_CURAND",
  remedy: "pip install nvidia-curand, or the CUDA toolkit",
  functions,
};

/** cuRAND's numbers of the generators that both have. */
const TYPES = { xorwow: 101, mrg32k3a: 121, philox: 161 } as const;

/** Whether cuRAND has a generator of this name. */
export const isCuRands = (generator: string): generator is keyof typeof TYPES => generator in TYPES;

/** A generator on the device's stream, seeded. */
export class CuRand implements Disposable {
  readonly #device: CudaDevice;
  readonly #library: ForeignCalls<typeof functions>;
  readonly #generator: number;

  private constructor(device: CudaDevice, library: ForeignCalls<typeof functions>, type: number) {
    this.#device = device;
    this.#library = library;
    const { calls } = library;
    this.#generator = device.withLibrary("cuRAND", [], ({ word, stream }) => {
      const generator = word((to) => calls.curandCreateGenerator(to, type), refuse);
      check(calls.curandSetStream(generator, stream));
      check(calls.curandSetPseudoRandomGeneratorSeed(generator, 1));
      check(calls.curandGenerateSeeds(generator));
      return generator;
    });
  }

  /** Undefined, with the reason noted, where it is not installed. */
  static open(device: CudaDevice, generator: keyof typeof TYPES, note: (text: string) => void): CuRand | undefined {
    try {
      return new CuRand(device, device.openLibrary(description), TYPES[generator]);
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      note(`no cuRAND: ${error.message.split("\n")[0]}`);
      return undefined;
    }
  }

  /** Records that `count` uniforms of f32 are written to the buffer. */
  fill(buffer: DeviceBuffer, count: number): void {
    this.#device.withLibrary("cuRAND", [buffer], ({ addresses }) =>
      check(this.#library.calls.curandGenerateUniform(this.#generator, addresses[0], count)),
    );
  }

  [Symbol.dispose](): void {
    this.#device.withLibrary("cuRAND", [], () => this.#library.calls.curandDestroyGenerator(this.#generator));
  }
}

function refuse(status: number): never {
  throw new Error(`cuRAND: status ${status}`);
}

function check(status: number): void {
  if (status !== 0) refuse(status);
}
