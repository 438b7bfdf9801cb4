/** Joins the cluster again when it does not accept the certificate of the node any more, as after `qd certs forget`. */
import { ApiError } from '../../api/errors.ts';
import type { Tools } from '../../base/tools.ts';
import type { Transport } from '../../client/transport/transport.ts';

const RETRY_MS = 10_000;
const MAX_RETRY_MS = 15 * 60_000;

interface RejoinOptions extends Pick<Tools, 'clock' | 'log'> {
  /** Gets a new certificate; rejects when that is not possible. */
  join(): Promise<void>;
  /** Called once, when there is a new certificate. */
  joined(): void;
}

export class Rejoin {
  #isJoining = false;
  #nextAt = Number.NEGATIVE_INFINITY;
  #retryMs = RETRY_MS;

  constructor(private readonly options: RejoinOptions) {}

  /** The same transport; rejected requests make the node join again. */
  noticing<T extends Transport>(transport: T): T {
    const noticed = (error: unknown): never => {
      if (isRejection(error)) this.#rejected();
      throw error;
    };
    return {
      ...transport,
      call: (request) => transport.call(request).catch(noticed),
      watch: (request) => transport.watch(request).catch(noticed),
    };
  }

  #rejected(): void {
    const { clock, log, join, joined } = this.options;
    if (this.#isJoining || clock.now() < this.#nextAt) return;
    this.#isJoining = true;
    join().then(joined, (error: unknown) => {
      const help = 'run the command that "qd token create" prints on this machine; pods go on meanwhile';
      log.error('the server does not accept this node any more', { help, error: String(error) });
      this.#isJoining = false;
      this.#nextAt = clock.now() + this.#retryMs;
      this.#retryMs = Math.min(MAX_RETRY_MS, 2 * this.#retryMs);
    });
  }
}

/** Error codes for a server whose certificate was not issued by the authority that the agent knows. */
const UNTRUSTED = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Reports whether the server does not know the node, or the node does not know the server. */
function isRejection(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return (
    error.reason === 'Unauthorized' || UNTRUSTED.has((error.cause as NodeJS.ErrnoException | undefined)?.code ?? '')
  );
}
