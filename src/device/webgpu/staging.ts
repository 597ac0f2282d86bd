import { mapModeRead, maxTransferBytes, bufferUsage } from "./constants.ts";
import type { Stream } from "./stream.ts";

/**
 * Copies a range of a buffer to the host and returns its bytes. A large range is copied by several commands that are
 * recorded together, so that no later launch runs between them.
 */
export async function readBytes(
  device: GPUDevice,
  stream: Stream,
  source: GPUBuffer,
  byteOffset: number,
  byteLength: number,
): Promise<ArrayBuffer> {
  const result = new Uint8Array(byteLength);
  const pieces: Promise<void>[] = [];
  for (let at = 0; at < byteLength; at += maxTransferBytes) {
    const piece = result.subarray(at, at + maxTransferBytes);
    pieces.push(readPiece(device, stream, source, byteOffset + at, piece));
  }
  await Promise.all(pieces);
  return result.buffer;
}

async function readPiece(
  device: GPUDevice,
  stream: Stream,
  source: GPUBuffer,
  byteOffset: number,
  to: Uint8Array,
): Promise<void> {
  const target = device.createBuffer({ size: to.byteLength, usage: bufferUsage.mapRead | bufferUsage.copyDst });
  try {
    stream.push({ kind: "copy", source, byteOffset, target, byteLength: to.byteLength });
    await new Promise<void>((submitted) => stream.push({ kind: "mark", submitted }));
    await target.mapAsync(mapModeRead);
    to.set(new Uint8Array(target.getMappedRange()));
    target.unmap();
  } finally {
    target.destroy();
  }
}
