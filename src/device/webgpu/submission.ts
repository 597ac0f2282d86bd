import type { Copy, Dispatch } from "./commands.ts";
import { argumentBytes, usage } from "./constants.ts";
import { Tally } from "./pace.ts";

const slots = 512;
const slotBytes = 256; // the coarsest alignment of dynamic offsets that WebGPU allows a device

/**
 * The uniform buffer with the arguments of all launches of one submission. One buffer suffices for all submissions,
 * because `queue.writeBuffer` is ordered after earlier submissions.
 */
export class ArgumentPage {
  readonly bindGroup: GPUBindGroup;
  readonly #buffer: GPUBuffer;
  readonly #words = new Uint32Array((slots * slotBytes) / 4);
  #used = 0;

  constructor(device: GPUDevice, layout: GPUBindGroupLayout) {
    // The binding spans `argumentBytes` from any slot on, so the page is that much longer than its slots.
    this.#buffer = device.createBuffer({
      size: slots * slotBytes + argumentBytes,
      usage: usage.uniform | usage.copyDst,
    });
    const resource = { buffer: this.#buffer, size: argumentBytes };
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

/** Encodes commands into one WebGPU command buffer. */
export class Submission {
  readonly tally = new Tally();
  launches = 0;
  readonly #encoder: GPUCommandEncoder;
  readonly #page: ArgumentPage;
  readonly #maxWidth: number;
  #pass: GPUComputePassEncoder | undefined;

  constructor(device: GPUDevice, page: ArgumentPage) {
    this.#encoder = device.createCommandEncoder();
    this.#page = page;
    this.#maxWidth = device.limits.maxComputeWorkgroupsPerDimension;
  }

  /** Encodes up to `groups` workgroups of a launch, beginning with its workgroup `next`, and advances `next`. */
  dispatch(launch: Dispatch, groups: number): void {
    const pass = (this.#pass ??= this.#encoder.beginComputePass());
    const { width, height, covered } = this.#grid(groups, launch.groups - launch.next);
    launch.words[2] = launch.next;
    pass.setPipeline(launch.pipeline);
    pass.setBindGroup(0, this.#page.bindGroup, [this.#page.put(launch.words)]);
    pass.setBindGroup(1, launch.buffers);
    pass.dispatchWorkgroups(width, height);
    this.tally.add(launch.pace, covered);
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

  copy({ source, byteOffset, target, byteLength }: Copy): void {
    this.#endPass();
    this.#encoder.copyBufferToBuffer(source, byteOffset, target, 0, byteLength);
  }

  submit(queue: GPUQueue): void {
    this.#endPass();
    this.#page.upload(queue);
    queue.submit([this.#encoder.finish()]);
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = undefined;
  }
}
