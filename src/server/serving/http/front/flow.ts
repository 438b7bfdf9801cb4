/** Bytes of a stream that are on their way between the threads, in either direction: more wait at their source. */
export const MAX_IN_FLIGHT_BYTES = 256 * 1024;
