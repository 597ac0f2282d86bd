/**
 * The number of programs that a device caches; programs in use stay alive beyond it. 600 random trades of every kind
 * need some 200, a book a dozen; on the CPU each takes some 0.3 MB, most of it machine code outside V8's heap.
 */
export const MAX_PROGRAMS = 512;
