/** What an update may change: everything but the status, only the status, or both. The rest is kept as it was. */
export type UpdatedPart = 'object' | 'status' | 'any';
