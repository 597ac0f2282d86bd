/** Books from their bytes to the bytes of their results, on several threads. */
export { Pipeline, type PipelineTotals, type PipelineRequest } from "./pipeline.ts";
export { type ChunkSetting, type TextFormat } from "./setting.ts";
export { servePipeline } from "./serve-pipeline.ts";
