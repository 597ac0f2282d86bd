/** An HTTP service that prices. */
export { openApi } from "./open-api.ts";
export { type Service, type ServiceRequest, startService } from "./server.ts";
export type { ServiceLimits } from "./open-api.ts";
