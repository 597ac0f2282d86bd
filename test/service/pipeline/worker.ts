/** A worker thread of a pipeline, from the sources. */
import { servePipeline } from "../../../src/service/pipeline/index.ts";

await servePipeline(() => {});
