import type { Requester } from '../kinds/kind.ts';

/** The identity that a request is made with. */
export type User = Requester;
