/** European values as a lower bound of early exercise. */
import type { Device } from "../../../device/index.ts";
import { newRequest, type Request, type RequestSettings } from "../../plan/request.ts";
import { isEarly } from "./acceptance.ts";
import type { PathEstimate } from "./without-paths.ts";
import { simulate } from "./simulate.ts";

/** The level of a European value beside one of early exercise, which has as many paths: four times the first ones. */
const EUROPEAN_LEVEL = 2;

/**
 * Raises values of options with early exercise to those of the European options with the same terms. Values by an
 * estimated exercise rule may be too low.
 */
export async function raiseToEuropean(
  device: Device,
  requests: readonly Request<PathEstimate>[],
  streamOf: (trade: number) => number,
  settings: RequestSettings,
): Promise<void> {
  const early = requests.filter(
    ({ terms, failure, estimate }) =>
      failure === undefined && estimate?.isSampled === true && terms.payoff.kind !== "script" && isEarly(terms),
  );
  if (early.length === 0) return;
  const european = early.map(({ trade, terms, spots }) =>
    newRequest<PathEstimate>({
      trade,
      terms: { ...terms, exercise: { kind: "european" } },
      spots,
      original: undefined,
      level: EUROPEAN_LEVEL,
    }),
  );
  await simulate(device, european, streamOf, settings);
  early.forEach((request, i) => {
    const { estimate: own } = request;
    const { estimate: least, failure } = european[i];
    if (failure !== undefined || !(least!.values[0] > own!.values[0])) return;
    const [value] = least!.values;
    // The price is above the European one less its error, and below the upper end of the first interval.
    const error = Math.max(least!.errors[0], own!.values[0] + own!.errors[0] - value);
    request.estimate = { ...own!, values: [value], errors: [error] };
  });
}
