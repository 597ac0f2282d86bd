import type { CopyCommand, DispatchCommand } from "./commands.ts";
import { maxArgumentBytes, bufferUsage } from "./constants.ts";
import { SubmissionEstimate } from "./workgroup-time.ts";

const slots = 512;
const slotBytes = 256; // the coarsest alignment of dynamic offsets that WebGPU allows a device

/**
 * The uniform buffer that holds the arguments of the launches of a submission. All submissions use the same buffer,
 * because `queue.writeBuffer` is ordered after earlier submissions.
 */
export class ArgumentBuffer {
  readonly bindGroup: GPUBindGroup;
  readonly #buffer: GPUBuffer;
  readonly #words = new Uint32Array((slots * slotBytes) / 4);
  #used = 0;

  constructor(device: GPUDevice, layout: GPUBindGroupLayout) {
    // The binding spans `maxArgumentBytes` from any slot on, so the buffer is that much longer than its slots.
    this.#buffer = device.createBuffer({
      size: slots * slotBytes + maxArgumentBytes,
      usage: bufferUsage.uniform | bufferUsage.copyDst,
    });
    const resource = { buffer: this.#buffer, size: maxArgumentBytes };
    this.bindGroup = device.createBindGroup({ layout, entries: [{ binding: 0, resource }] });
  }

  hasRoom(words: Uint32Array): boolean {
    return this.#used + words.byteLength <= slots * slotBytes;
  }

  /** Stores the arguments of one launch and returns their byte offset. */
  put(words: Uint32Array): number {
    const offset = this.#used;
    this.#words.set(words, offset / 4);
    this.#used += Math.ceil(words.byteLength / slotBytes) * slotBytes;
    return offset;
  }

  upload(queue: GPUQueue): void {
    if (this.#used > 0) queue.writeBuffer(this.#buffer, 0, this.#words, 0, this.#used / 4);
    this.#used = 0;
  }

  destroy(): void {
    this.#buffer.destroy();
  }
}

/** A submission under construction: it encodes commands into one WebGPU command buffer. */
export class Submission {
  readonly estimate = new SubmissionEstimate();
  launches = 0;
  readonly #encoder: GPUCommandEncoder;
  readonly #arguments: ArgumentBuffer;
  readonly #maxWidth: number;
  #pass: GPUComputePassEncoder | undefined;

  constructor(device: GPUDevice, argumentBuffer: ArgumentBuffer) {
    this.#encoder = device.createCommandEncoder();
    this.#arguments = argumentBuffer;
    this.#maxWidth = device.limits.maxComputeWorkgroupsPerDimension;
  }

  /** Encodes up to `groups` workgroups of a launch, beginning with its workgroup `next`, and advances `next`. */
  dispatch(launch: DispatchCommand, groups: number): void {
    const pass = (this.#pass ??= this.#encoder.beginComputePass());
    const { width, height, covered } = this.#grid(groups, launch.groups - launch.next);
    launch.words[2] = launch.next;
    pass.setPipeline(launch.pipeline);
    pass.setBindGroup(0, this.#arguments.bindGroup, [this.#arguments.put(launch.words)]);
    pass.setBindGroup(1, launch.buffers);
    pass.dispatchWorkgroups(width, height);
    this.estimate.add(launch.workgroupTime, covered);
    launch.next += covered;
    this.launches++;
  }

  /**
   * Returns the width and height of a dispatch. Only the last dispatch of a launch may contain more workgroups than
   * there are, because kernels check for this; any other must be a full rectangle.
   */
  #grid(groups: number, remaining: number): { width: number; height: number; covered: number } {
    if (groups <= this.#maxWidth) return { width: groups, height: 1, covered: groups };
    const width = this.#maxWidth;
    if (groups >= remaining) return { width, height: Math.ceil(remaining / width), covered: remaining };
    const height = Math.floor(groups / width);
    return { width, height, covered: width * height };
  }

  copy({ source, byteOffset, target, byteLength }: CopyCommand): void {
    this.#endPass();
    this.#encoder.copyBufferToBuffer(source, byteOffset, target, 0, byteLength);
  }

  submit(queue: GPUQueue): void {
    this.#endPass();
    this.#arguments.upload(queue);
    queue.submit([this.#encoder.finish()]);
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}
