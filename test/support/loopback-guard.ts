import { DialGuard } from '../../src/base/dial/dial-guard.ts';

/** For tests whose servers listen on loopback, as an operator may allow it. */
export const LOOPBACK_GUARD = new DialGuard({ ownAddresses: () => [], allowedRanges: ['127.0.0.0/8', '::1'] });
