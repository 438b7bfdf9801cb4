/**
 * The part that an update may change: everything but the status, only the status, or both. The rest stays unchanged.
 */
export type UpdatedPart = 'object' | 'status' | 'any';
