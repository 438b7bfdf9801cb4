import type { IncomingHttpHeaders } from 'node:http';
import type { ClientCertificate } from '../../authn/certificate.ts';
import { type ExtraHeaders, NO_HEADERS, type Peer, type WatchForm } from './exchange.ts';

/** What is the same of every request, whatever it came through. */
export abstract class ExchangeBase {
  standing = NO_HEADERS;
  #abort: AbortController | undefined;
  abstract readonly headers: IncomingHttpHeaders;

  constructor(readonly peer: Peer) {}

  abstract whenGone(listener: () => void): void;

  get authorization(): string | undefined {
    return this.headers.authorization;
  }

  get token(): string | undefined {
    return undefined;
  }

  get watchForm(): WatchForm {
    return 'lines';
  }

  get certificate(): ClientCertificate | undefined {
    return this.peer.certificate;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      this.whenGone(() => abort.abort());
    }
    return this.#abort.signal;
  }

  /** Those of every reply to this request, and those of this one. */
  protected allHeaders(extra: ExtraHeaders): ExtraHeaders {
    return extra.length === 0 ? this.standing : [...this.standing, ...extra];
  }
}
