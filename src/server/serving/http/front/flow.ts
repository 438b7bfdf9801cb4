/** Limit for the bytes of a stream in transit between the threads, in each direction. */
export const MAX_IN_FLIGHT_BYTES = 256 * 1024;
