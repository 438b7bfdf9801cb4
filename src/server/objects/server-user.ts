import type { User } from '../../api/user.ts';

/** The user that the server's own writes are made as. */
export const SERVER_USER: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
