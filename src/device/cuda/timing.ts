/** Device time, by two events in the stream. */
import { EVENT_TIMING } from "./ffi/driver-streams.ts";
import type { Session } from "./session.ts";

/**
 * Measures the time in milliseconds that a device takes for the operations that `work` records. `reached` waits until
 * the device has completed everything recorded so far.
 */
export async function timeStream(session: Session, work: () => void, reached: () => Promise<void>): Promise<number> {
  const { calls, driver } = session;
  const [start, end] = [newEvent(session), newEvent(session)];
  const discard = (): void => {
    for (const event of [start, end]) session.check("timed", calls.cuEventDestroy_v2(event));
  };
  session.check("timed", calls.cuEventRecord(start, session.stream));
  try {
    work();
  } catch (error) {
    session.enter();
    discard();
    throw error;
  }
  session.enter();
  session.check("timed", calls.cuEventRecord(end, session.stream));
  await reached();
  session.enter();
  const milliseconds = driver.float(
    (to) => calls.cuEventElapsedTime(to, start, end),
    (status) => session.check("timed", status),
  );
  discard();
  return milliseconds;
}

const newEvent = (session: Session): number =>
  session.word("timed", (to) => session.calls.cuEventCreate(to, EVENT_TIMING));
