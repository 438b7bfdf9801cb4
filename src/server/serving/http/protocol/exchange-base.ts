import type { IncomingHttpHeaders } from 'node:http';
import type { Duplex, Writable } from 'node:stream';
import { badRequest } from '../../../../api/errors.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { ClientCertificate } from '../../../access/authn/certificate.ts';
import { CACHE_CONTROL, type HeaderList, NO_HEADERS, type Peer, type WatchFraming } from '../../exchange.ts';
import { Deadline, type Deadlines } from '../deadlines.ts';
import { HttpError } from '../errors.ts';

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

interface Closable {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Closes a finished response that its client has not read in time. */
export function closeInTime(
  response: Closable,
  { clock, delayMs }: { readonly clock: Clock; readonly delayMs: number },
): void {
  const timer = clock.timer(delayMs, () => response.destroy());
  response.once('close', () => timer.cancel());
}

/** Waits for a body that is being read, up to the timeout for bodies. Rejects with 408 after that. */
export function timelyBody(reading: Promise<Buffer>, deadlines: Deadlines, onTimeout: () => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const deadline = new BodyDeadline(() => {
      onTimeout();
      reject(new HttpError(408, 'the body of the request did not arrive in time'));
    });
    deadlines.set(deadline);
    const settle = () => deadlines.clear(deadline);
    reading.then(resolve, reject).then(settle, settle);
  });
}

class BodyDeadline extends Deadline {
  constructor(override readonly expire: () => void) {
    super();
  }
}
