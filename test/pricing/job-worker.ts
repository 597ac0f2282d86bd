/** A worker thread whose jobs are numbers: each is multiplied, and those below 0 fail. */
import { serveJobs } from "../../src/base/threads/index.ts";

serveJobs<number, number, number>((times) => async (job) => {
  if (job < 0) throw new Error("below 0");
  return { answer: times * job };
});
