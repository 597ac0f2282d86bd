/** The parts of one or more GPUs that threads of the host work with, and the threads that do. */
import type { DeviceParts, PartsUser } from "../device.ts";
import { nodeModule } from "../node.ts";
import type { CudaDeviceInfo } from "./list.ts";
import type { Session } from "./session.ts";

/** A GPU and the session on it. Several threads may use the GPU in parts. */
export interface GpuSession {
  readonly info: CudaDeviceInfo;
  readonly session: Session;
}

/**
 * Returns the parts of a device, because one thread of the host leaves a GPU mostly idle: one part for every two cores
 * of the host. V8 compiles the code of each thread again, on threads of its own, which have the other cores: 16 cores
 * are as fast with 8 threads as with 12 or 16, with less memory (design/scenario-nodes.md). The parts are assigned to
 * the GPUs in turn. The result is undefined if the host has one core, or if the device is itself a part.
 */
export function devicePartsOf(gpus: readonly GpuSession[], users: PartsUsers): DeviceParts | undefined {
  const cores = nodeModule("node:os").availableParallelism();
  if (gpus[0].session.isShared || cores === 1) return undefined;
  const count = Math.max(Math.ceil(cores / 2), 2, gpus.length);
  const options = Array.from({ length: count }, (_, i) => {
    const { info, session } = gpus[i % gpus.length];
    const shared = { context: session.context, kernels: session.kernels.memory, count };
    return { backend: "cuda", device: info.index, shared } as const;
  });
  return { options, keep: (user) => users.keep(user) };
}

/** The users of a device's parts. They are disposed with the device. */
export class PartsUsers {
  readonly #kept: PartsUser[] = [];
  #ended = false;

  keep(user: PartsUser): void {
    if (this.#ended) user[Symbol.dispose]();
    else this.#kept.push(user);
  }

  /**
   * Disposes the users, and calls `close` when their threads have ended: a context may be destroyed only after the last
   * call in it.
   */
  end(close: () => void): void {
    this.#ended = true;
    for (const user of this.#kept) user[Symbol.dispose]();
    if (this.#kept.length === 0) close();
    else void Promise.all(this.#kept.map(({ ended }) => ended)).then(close);
  }
}
