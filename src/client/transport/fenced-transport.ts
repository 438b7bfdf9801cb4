import { ApiError } from '../../api/errors.ts';
import type { Transport } from './transport.ts';

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch']);

/** Rejects writes of a leader whose lease may have expired, because its event loop was blocked or the store did not answer. */
export function fencedTransport(transport: Transport, isCertain: () => boolean): Transport {
  const { pageSize, maxListBytes } = transport;
  return {
    ...(pageSize !== undefined && { pageSize }),
    ...(maxListBytes !== undefined && { maxListBytes }),
    watch: (request) => transport.watch(request),
    async call(request) {
      if (!READS.has(request.verb) && !isCertain()) {
        throw new ApiError('ServiceUnavailable', 'the lease of this leader may have expired');
      }
      return transport.call(request);
    },
  };
}
