/**
 * The number of compiled programs that a device caches. Programs in use stay alive beyond it. 600 random trades of all
 * kinds need about 200 programs, a book about a dozen. On the CPU each takes about 0.3 MB, most of it machine code
 * outside V8's heap.
 */
export const MAX_PROGRAMS = 512;
