/** Short rates whose transitions have no closed form: finite differences on a grid of the rate. */
export { GridEngine } from "./grid-engine.ts";
export {
  blackKarasinskiOnGrid,
  checkOnGrid,
  cirOnGrid,
  type ShortRateGridModel,
  hullWhiteOnGrid,
  usersRateOnGrid,
} from "./grid-market.ts";
