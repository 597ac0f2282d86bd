/** An HTTP service that prices. */
export { openApi } from "./open-api.ts";
export { type Service, type ServiceLimits, type ServiceRequest, startService } from "./server.ts";
