import type { Command, CopyCommand, DispatchCommand, WriteCommand } from "./commands.ts";
import { maxTransferBytes } from "./constants.ts";
import { SUBMISSION_BUDGET_MS } from "./workgroup-time.ts";
import { ArgumentBuffer, Submission } from "./submission.ts";

/** The maximum number of pending submissions. More would only cost the driver memory. */
const maxInFlight = 32;

/** The number of launches after which work is submitted to an idle GPU, before a submission is full. */
const launchesToStart = 32;

/**
 * The ordered command stream of a WebGPU device. Commands are encoded and submitted at once, except while the speed of
 * a kernel must be measured before more of its workgroups may be submitted. Until then commands wait in the stream.
 */
export class Stream {
  readonly #device: GPUDevice;
  readonly #arguments: ArgumentBuffer;
  #commands: Command[] = [];
  #submission: Submission | undefined;
  #garbage: GPUBuffer[] = [];
  #inFlight = 0;
  /** The condition that the stream waits for: that any submission finishes, or all of them. */
  #waitingFor: "any" | "all" | undefined;
  #closed = false;
  #lastDone = 0;
  #lastPush = 0;

  constructor(device: GPUDevice, layout: GPUBindGroupLayout) {
    this.#device = device;
    this.#arguments = new ArgumentBuffer(device, layout);
  }

  push(command: Command): void {
    if (this.#closed) return;
    this.#commands.push(command);
    this.#lastPush = performance.now();
    this.#drain();
    // The caller may change its array as soon as this returns.
    if (command.kind === "write" && this.#commands.length > 0) command.bytes = command.bytes.slice();
  }

  /** Discards the commands that have not been submitted. */
  close(): void {
    this.#closed = true;
    this.#commands = [];
    this.#submission = undefined;
    this.#arguments.destroy();
  }

  #drain(): void {
    let done = 0;
    while (done < this.#commands.length && this.#waitingFor === undefined && this.#execute(this.#commands[done]))
      done++;
    this.#commands.splice(0, done);
  }

  /** Executes one command. Returns false if the command, or the rest of it, must wait. */
  #execute(command: Command): boolean {
    switch (command.kind) {
      case "dispatch":
        return this.#dispatch(command);
      case "write":
        return this.#write(command);
      case "copy":
        return this.#copy(command);
      case "mark":
        this.#flush();
        command.submitted();
        return true;
      case "destroy":
        this.#garbage.push(command.buffer);
        if (this.#submission === undefined) this.#collect();
        return true;
      default:
        return command satisfies never;
    }
  }

  #write({ target, byteOffset, bytes }: WriteCommand): boolean {
    this.#flush();
    const { queue } = this.#device;
    queue.writeBuffer(target, byteOffset, bytes as Uint8Array<ArrayBuffer>);
    if (bytes.byteLength === maxTransferBytes) queue.submit([]); // lets the driver reuse its staging memory
    return true;
  }

  #copy(command: CopyCommand): boolean {
    this.#open().copy(command);
    return true;
  }

  #dispatch(launch: DispatchCommand): boolean {
    const { workgroupTime } = launch;
    while (launch.next < launch.groups && this.#waitingFor === undefined) {
      const remaining = launch.groups - launch.next;
      const room = SUBMISSION_BUDGET_MS - (this.#submission?.estimate.predicted ?? 0);
      const whole = workgroupTime.measured && remaining <= workgroupTime.trusted;
      if (whole && remaining <= workgroupTime.within(room)) this.#encode(launch, remaining);
      else if (whole && remaining <= workgroupTime.within(SUBMISSION_BUDGET_MS) && this.#submission !== undefined)
        this.#flush();
      else this.#piece(launch, remaining);
    }
    return launch.next === launch.groups;
  }

  /**
   * Submits a part of a launch by itself, and waits to measure it unless the measurements so far suffice for the rest.
   */
  #piece(launch: DispatchCommand, remaining: number): void {
    const { workgroupTime } = launch;
    this.#flush();
    const mustMeasure = !workgroupTime.measured || remaining > workgroupTime.trusted;
    this.#encode(
      launch,
      Math.max(1, Math.min(remaining, workgroupTime.trusted, workgroupTime.within(SUBMISSION_BUDGET_MS))),
    );
    this.#flush();
    if (mustMeasure) this.#waitingFor = "all";
  }

  #encode(launch: DispatchCommand, groups: number): void {
    if (this.#submission !== undefined && !this.#arguments.hasRoom(launch.words)) this.#flush();
    const submission = this.#open();
    submission.dispatch(launch, groups);
    if (this.#inFlight === 0 && submission.launches >= launchesToStart) this.#flush();
  }

  #open(): Submission {
    return (this.#submission ??= new Submission(this.#device, this.#arguments));
  }

  #flush(): void {
    const submission = this.#submission;
    if (submission === undefined) return;
    this.#submission = undefined;
    submission.submit(this.#device.queue);
    this.#collect();
    this.#watch(submission, performance.now());
  }

  /** Destroys buffers, which is allowed as soon as the work that uses them has been submitted. */
  #collect(): void {
    for (const buffer of this.#garbage) buffer.destroy();
    this.#garbage = [];
  }

  #watch(submission: Submission, start: number): void {
    this.#inFlight++;
    if (this.#inFlight >= maxInFlight) this.#waitingFor ??= "any";
    // Rejects only when the device is lost, and then the device closes this stream.
    this.#device.queue.onSubmittedWorkDone().then(
      () => this.#settle(submission, start),
      () => {},
    );
  }

  #settle(submission: Submission, start: number): void {
    const now = performance.now();
    const atMost = now - Math.max(start, this.#lastDone);
    submission.estimate.observe({ atMost, atLeast: Math.min(atMost, now - this.#lastPush) });
    this.#lastDone = now;
    this.#inFlight--;
    if (this.#waitingFor === "any" || this.#inFlight === 0) this.#waitingFor = undefined;
    if (!this.#closed) this.#drain();
  }
}
