import { openDevice } from "../src/device/index.ts";
import { DeviceUnavailableError } from "../src/base/errors.ts";
import { cycles } from "./device/process.ts";
import type { Benchmark } from "./harness.ts";

export const benchmark: Benchmark = {
  name: "cycles",
  description: "a thousand times open, price, close on a GPU through CUDA: what is left behind",
  async run(context) {
    try {
      const device = await openDevice({ backend: "cuda" });
      device[Symbol.dispose]();
      await cycles(device.name, context);
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      context.note(error.message);
    }
  },
};
