export { pricingPoolOf, startPricingPool } from "./pricing-pool.ts";
