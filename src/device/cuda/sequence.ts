/** Launches recorded once and run again as a whole: a CUDA graph. */
import { DisposedError } from "../../base/errors.ts";
import type { CudaBuffer } from "./memory/blocks.ts";
import { CAPTURE_RELAXED } from "./ffi/driver-streams.ts";
import type { Program } from "./program/program.ts";
import type { Session } from "./session.ts";

/**
 * The buffers and programs of a recorded sequence. The buffers must exist when it runs, and error messages name the
 * programs when it fails.
 */
export interface RecordedResources {
  readonly buffers: Set<CudaBuffer>;
  readonly programs: Set<Program>;
}

/**
 * Captures the launches that `record` makes into an executable CUDA graph, and returns the graph's handle. An error
 * ends the capture and is rethrown.
 */
export function captureGraph(session: Session, record: () => void): number {
  const { calls, stream, driver } = session;
  session.check("cuStreamBeginCapture", calls.cuStreamBeginCapture_v2(stream, CAPTURE_RELAXED));
  try {
    record();
  } catch (error) {
    const graph = driver.take(
      (to) => calls.cuStreamEndCapture(stream, to),
      () => {}, // the first error is the one that tells
    );
    if (graph !== 0) calls.cuGraphDestroy(graph);
    throw error;
  }
  const graph = session.word("cuStreamEndCapture", (to) => calls.cuStreamEndCapture(stream, to));
  try {
    return session.word("cuGraphInstantiate", (to) => calls.cuGraphInstantiateWithFlags(to, graph, 0));
  } finally {
    calls.cuGraphDestroy(graph);
  }
}

/** A sequence of launches, recorded once by `CudaDevice.record` and run repeatedly as a whole. @stable */
export interface LaunchSequence extends Disposable {
  readonly disposed: boolean;
  /**
   * Records one run of all launches with their recorded arguments. @throws DisposedError (the sequence, its device, or
   * a buffer it uses) | DeviceLostError
   */
  run(): void;
}

/** The members of a CUDA device that its sequences use. */
export interface SequenceOwner {
  /** Returns the session with its context current. @throws DisposedError | DeviceLostError */
  begin(): Session;
  launched(programs: Set<Program>): void;
  discard(graph: number): void;
}

/** A recorded sequence of launches on a CUDA device. */
export class CudaSequence implements LaunchSequence {
  readonly #owner: SequenceOwner;
  readonly #graph: number;
  readonly #recorded: RecordedResources;
  #disposed = false;

  constructor(owner: SequenceOwner, graph: number, recorded: RecordedResources) {
    this.#owner = owner;
    this.#graph = graph;
    this.#recorded = recorded;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  run(): void {
    if (this.#disposed) throw new DisposedError("sequence: it has been disposed");
    const session = this.#owner.begin();
    for (const buffer of this.#recorded.buffers) buffer.assertUsable("sequence");
    this.#owner.launched(this.#recorded.programs);
    session.check("sequence", session.calls.cuGraphLaunch(this.#graph, session.stream));
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#owner.discard(this.#graph);
  }
}
