/** The interpreter behind the device interface, as other suites use it. */
import { expect, test } from "vitest";
import { DisposedError, KernelRuntimeError } from "../../src/base/errors.ts";
import { i32, kernel, real, write } from "../../src/kernel/index.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";

const shift = kernel({
  name: "shift",
  params: { n: i32, u: write(real) },
  body({ n, u }, gpu) {
    const i = gpu.globalId();
    if (i < n) u[i] = u[i + 1];
  },
});

test("runs kernels on buffers, finds a race, counts buffers", async () => {
  using device = new InterpreterDevice();
  const buffer = device.createBuffer("f64", 4);
  device.write(buffer, Float64Array.of(1, 2, 3, 4));
  const compiled = await device.compile(shift, { precision: "f64" });
  device.launch(compiled, { n: 1, u: buffer }, { items: 4 });
  expect(await device.read(buffer)).toEqual(Float64Array.of(2, 2, 3, 4));
  const race = (): void => device.launch(compiled, { n: 3, u: buffer }, { items: 4 });
  expect(race).toThrow(KernelRuntimeError);
  expect(race).toThrow(/item 1 .* reads u\[2\]|writes u\[1\]/);
  buffer[Symbol.dispose]();
  expect(device.liveBuffers).toBe(0);
  expect(race).toThrow(DisposedError);
});
