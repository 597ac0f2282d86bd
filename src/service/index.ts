/** An HTTP service that prices. */
export { type Service, type ServiceLimits, type ServiceRequest, startService } from "./server.ts";
