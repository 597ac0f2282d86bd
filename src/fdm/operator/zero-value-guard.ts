/**
 * A constant added to all values at expiry and to those set by events, in units of the spot (in `solve`: in the values'
 * own units); it is below the rounding of every value but zero.
 *
 * Away from the payoff's support each implicit step leaves a node a fraction of its neighbour's value, which after some
 * tens of nodes is subnormal and slow on a CPU. On a Xeon, American options in f32 on 201 nodes took 27.6 µs instead of
 * 13.3, in f64 on 513 nodes 15 % longer. A constant is preserved by every step, so that nothing falls below it.
 */
export const ZERO_VALUE_GUARD = 1e-30;
