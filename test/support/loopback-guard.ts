import { DialGuard } from '../../src/base/sockets/dial/dial-guard.ts';

/** Allows servers of tests on loopback, as an operator may. */
export const LOOPBACK_GUARD = new DialGuard({ ownAddresses: () => [], allowedRanges: ['127.0.0.0/8', '::1'] });
