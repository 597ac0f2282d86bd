/**
 * Returns the correction of Richardson's extrapolation (1911; Roache 1998, ch. 5), which is to be added to the fine
 * solution. Where the error is C·hᵖ plus higher orders, with p = `order`, it is
 *
 *   u − u_h ≈ (u_h − u_2h)/(2ᵖ − 1).
 */
export function richardsonCorrection(fine: number, coarse: number, order: number): number {
  return (fine - coarse) / (2 ** order - 1);
}
