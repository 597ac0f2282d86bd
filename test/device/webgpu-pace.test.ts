import { describe, expect, test } from "vitest";
import { SUBMISSION_BUDGET_MS, WorkgroupTime, SubmissionEstimate } from "../../src/device/webgpu/workgroup-time.ts";

const exactly = (ms: number) => ({ atLeast: ms, atMost: ms });

describe("pace of a kernel", () => {
  test("starts with a small piece and trusts no more than sixteen times what it has seen", () => {
    const pace = new WorkgroupTime();
    expect([pace.measured, pace.trusted, pace.within(SUBMISSION_BUDGET_MS)]).toEqual([false, 64, 64]);
    pace.observe(exactly(1), 64);
    expect([pace.measured, pace.trusted]).toEqual([true, 1024]);
  });

  test("no piece is predicted beyond the budget", () => {
    const pace = new WorkgroupTime();
    pace.observe(exactly(6.4), 64); // 0.1 ms a group
    expect(pace.within(SUBMISSION_BUDGET_MS)).toBe(500);
    expect(pace.predict(500)).toBeCloseTo(50);
  });

  test("takes up a slower measurement at once, a faster one by halves", () => {
    const pace = new WorkgroupTime();
    pace.observe(exactly(10), 10);
    pace.observe(exactly(40), 10);
    expect(pace.predict(10)).toBeCloseTo(40);
    pace.observe(exactly(20), 10);
    expect(pace.predict(10)).toBeCloseTo(30);
  });

  test("a wide measurement that contains the estimate teaches nothing", () => {
    const pace = new WorkgroupTime();
    pace.observe(exactly(10), 10);
    pace.observe({ atLeast: 0.1, atMost: 1000 }, 10); // the event loop was busy for a second
    expect(pace.predict(10)).toBeCloseTo(10);
  });

  test("kernels that ran together share the time in proportion to their predictions", () => {
    const [slow, fast] = [new WorkgroupTime(), new WorkgroupTime()];
    slow.observe(exactly(9), 1);
    fast.observe(exactly(1), 1);
    const tally = new SubmissionEstimate();
    tally.add(slow, 2);
    tally.add(fast, 2);
    expect(tally.predicted).toBeCloseTo(20);
    tally.observe(exactly(40));
    expect([slow.predict(1), fast.predict(1)]).toEqual([expect.closeTo(18), expect.closeTo(2)]);
  });
});
