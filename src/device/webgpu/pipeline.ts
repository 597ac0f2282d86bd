import { KernelError } from "../../base/errors.ts";
import { maxArgumentBytes, stageCompute } from "./constants.ts";
import type { WgslModule } from "./lowering.ts";

/** A compiled WGSL module with its pipeline and bind group layouts. */
export interface CompiledModule {
  readonly module: WgslModule;
  readonly pipeline: GPUComputePipeline;
  readonly bufferLayout: GPUBindGroupLayout;
}

/** Creates the layout of bind group 0 of every kernel, which holds one uniform block at a dynamic offset. */
export function createArgumentLayout(device: GPUDevice): GPUBindGroupLayout {
  const buffer: GPUBufferBindingLayout = { type: "uniform", hasDynamicOffset: true, minBindingSize: maxArgumentBytes };
  return device.createBindGroupLayout({ entries: [{ binding: 0, visibility: stageCompute, buffer }] });
}

/**
 * Compiles a WGSL module to a compute pipeline. @throws KernelError with the messages of the WGSL compiler or of the
 * driver
 */
export async function compileModule(
  device: GPUDevice,
  argumentLayout: GPUBindGroupLayout,
  name: string,
  module: WgslModule,
): Promise<CompiledModule> {
  // The scope keeps a failure out of the device's general error event; the message comes from the compilation info.
  device.pushErrorScope("validation");
  const shader = device.createShaderModule({ label: name, code: module.code });
  const failed = device.popErrorScope();
  const { messages } = await shader.getCompilationInfo();
  const errors = messages.filter(({ type }) => type === "error");
  if (errors.length > 0 || (await failed) !== null) throw rejected(name, module.code, errors, (await failed)?.message);

  const bufferLayout = device.createBindGroupLayout({
    entries: module.bindings.map((type, binding) => ({ binding, visibility: stageCompute, buffer: { type } })),
  });
  const layout = device.createPipelineLayout({ bindGroupLayouts: [argumentLayout, bufferLayout] });
  try {
    const compute = { module: shader, entryPoint: module.entryPoint };
    const pipeline = await device.createComputePipelineAsync({ label: name, layout, compute });
    return { module, pipeline, bufferLayout };
  } catch (cause) {
    throw new KernelError(`${name}: WebGPU cannot build the pipeline: ${(cause as Error).message}`, undefined, {
      cause,
    });
  }
}

/**
 * Returns the error for compiler messages, each with the generated line that it is about. The comment above that line
 * in the code names the kernel's own line.
 */
function rejected(name: string, code: string, errors: readonly GPUCompilationMessage[], other = ""): KernelError {
  const lines = code.split("\n");
  const quoted = errors.map(({ lineNum, linePos, message }) => {
    const origin = lines.slice(0, lineNum).findLast((line) => line.trimStart().startsWith("// "));
    return [`WGSL ${lineNum}:${linePos}: ${message}`, origin?.trim(), lines[lineNum - 1]].filter(Boolean).join("\n  ");
  });
  return new KernelError(`${name}: the WGSL compiler rejects the generated code\n${quoted.join("\n") || other}`);
}
