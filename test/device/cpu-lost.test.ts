import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";

import { CpuDevice } from "../../src/device/cpu/index.ts";
import { DeviceLostError } from "../../src/base/errors.ts";
import { i32, kernel, real, write } from "../../src/kernel/index.ts";

const increment = kernel({
  params: { turns: i32, u: write(real) },
  body({ turns, u }, gpu) {
    let x = u[gpu.globalId()];
    for (let k = 0; k < turns; k++) x = x * 2 - x;
    u[gpu.globalId()] = x + 1;
  },
});

describe("CPU device: losing a worker", () => {
  it("rejects what is under way and everything after, and says why", async () => {
    let terminated = 0;
    let workers = 0;
    using device = new CpuDevice({
      threads: 2,
      shared: true,
      vectors: undefined,
      alwaysShare: false,
      startThread(events) {
        workers++;
        return {
          post: (message) => void (message.kind === "fence" && setTimeout(() => events.died("out of memory"), 0)),
          hold: () => {},
          terminate: () => void terminated++,
        };
      },
    });
    const compiled = await device.compile(increment, { precision: "f64" });
    using u = device.createBuffer("f64", 100_000);
    device.launch(compiled, { turns: 100_000, u }, { items: 100_000 });
    expect(workers).toBe(2);
    const waiting = [device.read(u), device.finish()];
    for (const promise of waiting) await expect(promise).rejects.toThrow(DeviceLostError);
    expect(await device.lost).toBe("out of memory");
    expect(terminated).toBe(2);
    expect(() => device.createBuffer("f64", 1)).toThrow(/lost: out of memory; open another/);
    await expect(device.finish()).rejects.toThrow(DeviceLostError);
  });

  it("lets the process end by itself, but not before what it waits for", () => {
    const program = `
      import { createCpuDevice } from "./src/device/cpu/index.ts";
      import { i32, kernel, real, write } from "./src/kernel/index.ts";
      const device = createCpuDevice({ threads: 2 });
      const slow = kernel({ params: { turns: i32, u: write(real) }, body({ turns, u }, gpu) {
        let x = u[gpu.globalId()];
        for (let k = 0; k < turns; k++) x = x * 2 - x;
        u[gpu.globalId()] = x + 1;
      } });
      const compiled = await device.compile(slow, { precision: "f64" });
      const u = device.createBuffer("f64", 20000);
      device.launch(compiled, { turns: 20000, u }, { items: 20000 });
      device.read(u).then((values) => console.log("read", values[19999]));
    `;
    const out = execFileSync(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", program], {
      encoding: "utf8",
      timeout: 60_000,
    });
    expect(out.trim()).toBe("read 1");
  });
});
