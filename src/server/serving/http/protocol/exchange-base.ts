import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import { badRequest } from '../../../../api/errors.ts';
import type { ClientCertificate } from '../../../access/authn/certificate.ts';
import { CACHE_CONTROL, type HeaderList, NO_HEADERS, type Peer, type WatchFraming } from '../../exchange.ts';

/** The protocol-independent part of all exchanges. */
export abstract class ExchangeBase {
  responseHeaders = NO_HEADERS;
  #abort: AbortController | undefined;
  abstract readonly headers: IncomingHttpHeaders;

  constructor(readonly peer: Peer) {}

  abstract onClose(listener: () => void): void;

  get authorization(): string | undefined {
    return this.headers.authorization;
  }

  get token(): string | undefined {
    return undefined;
  }

  get watchFraming(): WatchFraming {
    return 'lines';
  }

  get certificate(): ClientCertificate | undefined {
    return this.peer.certificate;
  }

  room(): Promise<void> | undefined {
    return undefined;
  }

  get signal(): AbortSignal {
    if (!this.#abort) {
      const abort = new AbortController();
      this.#abort = abort;
      this.onClose(() => abort.abort());
    }
    return this.#abort.signal;
  }

  abstract startResponse(code: number, headers: HeaderList): Writable;

  startText(contentType: string, extra: HeaderList): Writable {
    return this.startResponse(200, ['Cache-Control', CACHE_CONTROL, 'Content-Type', contentType, ...extra]);
  }

  upgrade(_headers: HeaderList): Duplex {
    throw badRequest('Upgrade request required');
  }

  /** Returns the headers of every response to this request, and those of this one. */
  protected allHeaders(extra: HeaderList): HeaderList {
    return extra.length === 0 ? this.responseHeaders : [...this.responseHeaders, ...extra];
  }
}
