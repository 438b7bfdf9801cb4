import type { Requester } from '../kinds/kind.ts';

export type User = Requester;
