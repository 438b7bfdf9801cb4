import { request } from 'node:https';
import { refuseUpgrade } from '../../base/http/refuse-upgrade.ts';
import { isShallow } from '../../base/json/size.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 1024 * 1024;
const MAX_DEPTH = 100;

interface FetchJsonOptions extends Pick<Connection, 'token' | 'cert' | 'key'> {
  /** The authorities to trust, as PEM; default: those that Node trusts. */
  readonly ca: string | undefined;
  /** Until the body has come as a whole: a server that sends it byte by byte would never be done. */
  readonly timeoutMs?: number;
  readonly method?: 'GET' | 'POST';
}

/** A response with another code than 200. */
export class UnexpectedCode extends Error {
  override readonly name = 'UnexpectedCode';
  constructor(
    url: string,
    readonly code: number | undefined,
  ) {
    super(`${url} answered ${code}`);
  }
}

/** Fetches JSON from an https URL. Redirects are not followed. */
export function fetchJson(url: string, options: FetchJsonOptions): Promise<unknown> {
  const { ca, timeoutMs = TIMEOUT_MS, method = 'GET', token, cert, key } = options;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(timeoutMs);
    const fail = (error: Error) =>
      reject(signal.aborted ? new Error(`${url} did not answer in ${timeoutMs} ms`, { cause: error }) : error);
    const call = request(url, { signal, ca, cert, key, method, headers }, (response) => {
      if (response.statusCode !== 200) {
        call.destroy();
        return reject(new UnexpectedCode(url, response.statusCode));
      }
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) call.destroy(new Error(`${url} answered with more than ${MAX_BODY_BYTES} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        try {
          resolve(parse(Buffer.concat(chunks).toString('utf8')));
        } catch (cause) {
          reject(new Error(`${url} did not answer with JSON`, { cause }));
        }
      });
    });
    call.on('error', fail);
    refuseUpgrade(call);
    call.end();
  });
}

/** A megabyte of opening brackets would block the event loop. */
function parse(text: string): unknown {
  if (!isShallow(text, MAX_DEPTH)) throw new Error('it is nested too deep');
  return JSON.parse(text);
}
