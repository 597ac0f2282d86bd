/** The simulation of many workers, in cases that can be added up by hand. */
import { expect, test } from "vitest";
import { simulate, type SimulatedRun } from "../../bench/cluster/simulation.ts";
import { random } from "../service/runs/killed.ts";

const plain: SimulatedRun = {
  workers: 3,
  chunks: [1, 1, 1, 1, 1, 1, 1],
  failures: 0,
  lock: 30,
  restart: 1,
  redis: 0,
  storage: 0.5,
  spread: 0,
  next: random(1),
};

test("without failures and waiting it takes as many rounds as there are", () => {
  expect(simulate(plain)).toMatchObject({ seconds: 4.5, priced: 7, stored: 3.5, waited: 0, idle: 3, failed: 0 });
});

test("a server that needs longer than all workers together decides the time", () => {
  const { seconds, redisBusy } = simulate({ ...plain, redis: 2 });
  expect(seconds).toBe(7 * 2 + 1.5);
  expect(redisBusy).toBeCloseTo(14 / 15.5, 12);
});

test("chunks that fail are priced again, and the times of all workers add up", () => {
  const times = simulate({ ...plain, chunks: Array<number>(1000).fill(1), failures: 0.2, spread: 0.3, redis: 0.01 });
  expect(times.failed).toBeGreaterThan(150);
  const { seconds, priced, lost, stored, waited, idle } = times;
  expect(stored).toBe(500);
  expect(priced + lost + stored + waited + idle).toBeCloseTo(3 * seconds, 9);
});
