/** Rows that the reader writes to a damaged store. */
export const WRITTEN_ROWS = 60;
