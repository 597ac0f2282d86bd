/** The allocator of a CPU device: buffers of their own, room that comes back, and its count. */
import { expect, test } from "vitest";
import { CpuMemory } from "../../src/device/cpu/memory.ts";
import { random } from "../service/runs/killed.ts";

test("buffers never overlap, are zero, and are counted until they are freed", () => {
  const memory = new CpuMemory(false);
  const next = random(5);
  const below = (count: number): number => Math.floor(count * next());
  const live = new Map<number, number>();
  for (let turn = 0; turn < 400; turn++) {
    const addresses = [...live.keys()];
    if (addresses.length > 0 && below(5) < 2) {
      const start = addresses[below(addresses.length)];
      memory.free(start);
      live.delete(start);
      expect(() => memory.free(start)).toThrow("not allocated");
    } else {
      const bytes = 8 * (1 + below(500));
      const start = memory.allocate(bytes);
      for (const [from, length] of live) expect(start >= from + length || start + bytes <= from).toBe(true);
      const view = new Uint8Array(memory.memory.buffer, start, bytes);
      expect(view.every((byte) => byte === 0)).toBe(true);
      view.fill(0xff);
      live.set(start, bytes);
    }
    const wanted = [...live.values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(memory.bytesInUse).toBeGreaterThanOrEqual(wanted);
    expect(memory.bytesInUse).toBeLessThanOrEqual(wanted + 256 * live.size);
  }
  for (const start of live.keys()) memory.free(start);
  expect(memory.bytesInUse).toBe(0);
});

test("what is freed side by side is room for one buffer as large as all of it, in any order", () => {
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [1, 3, 0, 2],
    [0, 2, 3, 1],
  ]) {
    const memory = new CpuMemory(false);
    const starts = order.map(() => memory.allocate(1000 * 128 - 128));
    memory.allocate(8);
    for (const k of order) memory.free(starts[k]);
    expect(memory.allocate(4 * 1000 * 128 - 128)).toBe(starts[0]);
  }
});
