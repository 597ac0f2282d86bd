/** The HTTP pricing service. */
export { openApi } from "./open-api.ts";
export { type Service, type ServiceSettings, startService } from "./server.ts";
export type { ServiceLimits } from "./open-api.ts";
