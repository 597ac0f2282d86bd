/** Batches priced on several threads of the host. */
export { type Crew, crewOf, startCrew } from "./worker-pool.ts";
