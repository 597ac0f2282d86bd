/** cuda.h: stream management, event management, graph management. */
import type { Table } from "./signatures.ts";

/** The signatures of the driver's functions for streams, events and graphs. */
export const driverStreamFunctions = {
  cuStreamCreate: ["u64", "u32"], // CUstream *stream, flags
  cuStreamDestroy_v2: ["u64"],
  cuStreamBeginCapture_v2: ["u64", "i32"], // CUstream, CUstreamCaptureMode
  cuStreamEndCapture: ["u64", "u64"], // CUstream, CUgraph *graph
  cuEventCreate: ["u64", "u32"], // CUevent *event, flags
  cuEventRecord: ["u64", "u64"], // CUevent, CUstream
  cuEventQuery: ["u64"],
  cuEventSynchronize: ["u64"],
  cuEventElapsedTime: ["u64", "u64", "u64"], // float *milliseconds, CUevent start, CUevent end
  cuEventDestroy_v2: ["u64"],
  cuGraphInstantiateWithFlags: ["u64", "u64", "u64"], // CUgraphExec *exec, CUgraph, unsigned long long flags
  cuGraphLaunch: ["u64", "u64"], // CUgraphExec, CUstream
  cuGraphExecDestroy: ["u64"],
  cuGraphDestroy: ["u64"],
} as const satisfies Table;

/** The flag of a stream that does not wait for the default stream, which another library in the process might use. */
export const STREAM_NON_BLOCKING = 1;

/** The flag of an event that records its time. */
export const EVENT_TIMING = 0;
/** The flag of an event without a time. */
export const EVENT_DISABLE_TIMING = 2;

/** The stream capture mode in which this and other threads may allocate memory during a capture. */
export const CAPTURE_RELAXED = 2;
