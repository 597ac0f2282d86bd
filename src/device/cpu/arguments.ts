/** The block of memory with a launch's arguments that a compiled kernel reads. */
import type { KernelSignature } from "../../kernel/index.ts";
import type { ArgumentLayout } from "../../kernel/emit/wasm/index.ts";
import { launchBuffers, rejectUnknown, setScalar } from "../arguments.ts";
import type { Device, LaunchArguments } from "../device.ts";
import { CpuBuffer } from "./buffer.ts";

/**
 * Returns the block of memory with a launch's arguments, in the layout that a compiled WebAssembly kernel expects, and
 * the buffers among the arguments. `count` is the number of work items or workgroups. @throws ShapeError |
 * DisposedError
 */
export function argumentBlock(
  device: Device,
  ir: KernelSignature,
  layout: ArgumentLayout,
  args: LaunchArguments,
  count: number,
): { readonly block: ArrayBuffer; readonly buffers: readonly CpuBuffer[] } {
  const block = new ArrayBuffer(layout.bytes);
  const view = new DataView(block);
  view.setInt32(layout.groupCount, ir.cooperative ? count : 0, true);
  const buffers = launchBuffers(device, CpuBuffer, ir, args);
  buffers.forEach((buffer, i) => {
    view.setUint32(layout.buffers[i], buffer.address, true);
    view.setInt32(layout.buffers[i] + 4, buffer.length, true);
  });
  ir.scalars.forEach((declared, i) => setScalar(view, layout.scalars[i], ir, declared, args));
  rejectUnknown(ir, args);
  return { block, buffers };
}
