import { expect, test } from "vitest";
import { LruCache } from "../../src/base/memoize.ts";

test("holds what was used last, and says what goes", () => {
  const gone: number[] = [];
  const held = new LruCache<string, number>(2, (value) => gone.push(value));
  held.set("a", 1);
  held.set("b", 2);
  expect(held.get("a")).toBe(1);
  expect(held.getOrMake("c", () => 3)).toBe(3);
  expect([...held.values()]).toEqual([1, 3]);
  expect(held.getOrMake("a", () => 4)).toBe(1);
  held.set("c", 5);
  expect([held.size, ...held.values()]).toEqual([2, 1, 5]);
  held.delete("a");
  expect(held.get("a")).toBeUndefined();
  expect(gone).toEqual([2]);
});
