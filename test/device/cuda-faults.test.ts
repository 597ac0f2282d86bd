/** Kernels that fault, on the emulator: the device is lost and says why, everything else goes on. */
import { describe, expect, test } from "vitest";
import { DeviceLostError } from "../../src/base/errors.ts";
import { type Emulation, emulation, increment, ramp, stray } from "./cuda-kernels.ts";

const emulated = await emulation();

describe.skipIf(emulated === undefined)("a kernel that faults", () => {
  const { open, control } = emulated ?? ({} as Emulation);

  test("is named, and everything that waits is told", async () => {
    const device = await open();
    const [good, bad] = [
      await device.compile(increment, { precision: "f64" }),
      await device.compile(stray, { precision: "f64" }),
    ];
    using u = device.createBuffer("f64", 4);
    device.launch(good, { u }, { items: 4 });
    await device.finish();
    device.launch(bad, { u }, { items: 1 });
    const waiting = [device.read(u), device.finish(), device.timed(() => {})];
    for (const one of waiting) await expect(one).rejects.toThrow(DeviceLostError);
    const reason = await device.lost;
    expect(reason).toMatch(/^kernel stray: .*\(CUDA_ERROR_ILLEGAL_ADDRESS\)$/);
    expect(() => device.launch(good, { u }, { items: 4 })).toThrow(/lost: kernel stray: .*; open the device again/);
    expect(() => device.createBuffer("f64", 1)).toThrow(DeviceLostError);
    await expect(device.read(u)).rejects.toThrow(DeviceLostError);
    await expect(device.compile(stray, { precision: "f32" })).rejects.toThrow(DeviceLostError);
    u[Symbol.dispose]();
    expect(device.liveBuffers).toBe(0);
    device[Symbol.dispose]();
  });

  test("may be one of several under way; those known to be complete are not among them", async () => {
    using device = await open();
    const [good, bad] = [
      await device.compile(increment, { precision: "f64" }),
      await device.compile(stray, { precision: "f64" }),
    ];
    using u = device.createBuffer("f64", 4);
    device.launch(bad, { u }, { items: 1 });
    device.launch(good, { u }, { items: 4 });
    await expect(device.finish()).rejects.toThrow(/one of the kernels stray, increment/);
  });

  test("in a sequence is found as well", async () => {
    using device = await open();
    const bad = await device.compile(stray, { precision: "f64" });
    using u = device.createBuffer("f64", 4);
    using sequence = device.record(() => device.launch(bad, { u }, { items: 1 }));
    await device.finish();
    sequence.run();
    await expect(device.finish()).rejects.toThrow(/kernel stray/);
    expect(() => sequence.run()).toThrow(DeviceLostError);
  });

  test("leaves other devices alone, and a new one can be opened", async () => {
    const before = control.live;
    using other = await open();
    using kept = other.createBuffer("f64", 4);
    other.write(kept, ramp(4));
    {
      using device = await open();
      using u = device.createBuffer("f64", 4);
      device.launch(await device.compile(stray, { precision: "f64" }), { u }, { items: 1 });
      await expect(device.read(u)).rejects.toThrow(DeviceLostError);
    }
    other.launch(await other.compile(increment, { precision: "f64" }), { u: kept }, { items: 4 });
    expect(await other.read(kept)).toEqual(Float64Array.of(1, 2, 3, 4));
    using next = await open();
    using u = next.createBuffer("f64", 4);
    next.launch(await next.compile(increment, { precision: "f64" }), { u }, { items: 4 });
    expect(await next.read(u)).toEqual(Float64Array.of(1, 1, 1, 1));
    for (const device of [next, other]) device[Symbol.dispose]();
    expect(control.live).toEqual(before);
  });

  test("disposed unread, it troubles nobody", async () => {
    const device = await open();
    const u = device.createBuffer("f64", 4);
    device.launch(await device.compile(stray, { precision: "f64" }), { u }, { items: 1 });
    u[Symbol.dispose]();
    device[Symbol.dispose]();
    using next = await open();
    await next.finish();
  });
});
