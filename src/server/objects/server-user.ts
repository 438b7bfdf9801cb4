import type { User } from '../../api/user.ts';

/** The user as which the server writes for itself. */
export const SERVER_USER: User = { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
