/** A kernel loaded into one device's context. */
import { KernelError } from "../../../base/errors.ts";
import type { KernelSignature, Params } from "../../../kernel/index.ts";
import type { CudaSource } from "../../../kernel/emit/cuda/index.ts";
import { BaseKernel } from "../../arguments.ts";
import type { CompiledKernel } from "../../device.ts";
import { versionText } from "../driver.ts";
import { functionAttribute } from "../ffi/driver-modules.ts";
import { CUDA_ERROR_OUT_OF_MEMORY, CUDA_SUCCESS, describeResult } from "../ffi/results.ts";
import type { Session } from "../session.ts";
import type { CudaImage } from "./compiler.ts";
import { ParameterBlock } from "./parameters.ts";

/** Failures of loading that are the image's, not the device's: 2xx. */
const isImageFailure = (status: number): boolean => status >= 200 && status < 300 && status !== 201;

/** A program loaded by the CUDA driver. */
export class Program {
  readonly session: Session;
  readonly signature: KernelSignature;
  readonly source: CudaSource;
  readonly function: number;
  readonly parameters: ParameterBlock;
  /** The number of the program's last launch. */
  lastLaunch = 0;

  constructor(session: Session, source: CudaSource, entry: number) {
    this.session = session;
    this.signature = source.signature;
    this.source = source;
    this.function = entry;
    this.parameters = new ParameterBlock(session.driver.koffi, source.parameters);
  }
}

/** The driver's handles of a loaded kernel. */
export interface KernelHandles {
  readonly module: number;
  readonly entry: number;
}

/** Loads a compiled image. @throws KernelError (the driver rejects the image) | OutOfMemoryError */
export function loadImage(session: Session, { source, bytes }: CudaImage): KernelHandles {
  session.enter();
  const { calls, driver } = session;
  const { name } = source.signature;
  const loaded = driver.take(
    (to) => calls.cuModuleLoadData(to, bytes),
    (status) => {
      if (!isImageFailure(status)) return session.check(`${name}: loading`, status);
      const why = `the driver (CUDA ${versionText(driver.version)}) turns it down: ${describeResult(status)}`;
      throw new KernelError(`${name}: ${why}; an NVRTC of the driver's version helps`);
    },
  );
  try {
    return { module: loaded, entry: functionOf(session, source, loaded) };
  } catch (error) {
    calls.cuModuleUnload(loaded);
    throw error;
  }
}

/** Returns the handle of a loaded module's function, ready for launches. */
function functionOf(session: Session, source: CudaSource, loaded: number): number {
  const { calls, driver } = session;
  const { name, groupSize } = source.signature;
  const entry = session.word(`${name}: ${source.entryPoint}`, (to) =>
    calls.cuModuleGetFunction(to, loaded, source.entryPoint),
  );
  const max = driver.int(name, (to) => calls.cuFuncGetAttribute(to, functionAttribute.maxThreadsPerBlock, entry));
  if (source.groupSize > max) {
    throw new KernelError(
      `${name}: a group of ${groupSize} items, but its registers leave room for ${max}; make the group smaller`,
    );
  }
  if (source.dynamicSharedBytes > 0) allowSharedBytes(session, source, entry);
  return entry;
}

/** Beyond 48 KiB a kernel must ask. */
function allowSharedBytes({ calls }: Session, { dynamicSharedBytes, signature }: CudaSource, entry: number): void {
  const status = calls.cuFuncSetAttribute(entry, functionAttribute.maxDynamicSharedBytes, dynamicSharedBytes);
  if (status === CUDA_SUCCESS || status === CUDA_ERROR_OUT_OF_MEMORY) return;
  const what = `${dynamicSharedBytes} bytes of workgroup arrays are more than this GPU gives`;
  throw new KernelError(`${signature.name}: ${what}: ${describeResult(status)}`);
}

/** A kernel compiled for a CUDA device. */
export class CudaKernel<P extends Params = Params> extends BaseKernel<P, Program> implements CompiledKernel<P> {
  get code(): string {
    return this.program.source.code;
  }
}
