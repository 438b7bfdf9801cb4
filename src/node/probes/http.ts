/** Sends a request as the kubelet does: without verifying certificates, following redirects on the same host. */
import * as http from 'node:http';
import * as https from 'node:https';
import { refuseUpgrade } from '../../base/http/refuse-upgrade.ts';
import { socketFailure } from '../../base/sockets/dial/dial-error.ts';
import type { DialAllowance, DialGuard } from '../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../base/time/clock.ts';
import { failure, type ProbeOutcome, SUCCESS } from './outcome.ts';

export interface HttpTarget {
  readonly url: URL;
  readonly headers: readonly { readonly name?: string | undefined; readonly value?: string | undefined }[];
  readonly userAgent: string;
  readonly guard: DialGuard;
  readonly allowance: DialAllowance;
}

export interface HttpResponse {
  readonly code: number;
  readonly location: string | undefined;
  readonly body: string;
}

const MAX_REDIRECTS = 10;
const MAX_BODY_BYTES = 10 * 1024;

export async function checkHttp(target: HttpTarget, timeoutMs: number, clock: Clock): Promise<ProbeOutcome> {
  const limit = new AbortController();
  const timer = clock.timer(timeoutMs, () => limit.abort());
  let { url } = target;
  try {
    for (let redirects = 0; ; redirects++) {
      const { code, location, body } = await request({ ...target, url }, limit.signal);
      if (code < 200 || code >= 400) return failure(`HTTP probe failed with statuscode: ${code}`);
      const next = code >= 300 && location !== undefined ? redirected(location, url) : undefined;
      if (!next) return SUCCESS;
      if (next.hostname !== target.url.hostname) {
        return { type: 'warning', output: `Probe terminated redirects, Response body: ${body}` };
      }
      if (redirects >= MAX_REDIRECTS) return failure(`Get "${next}": stopped after 10 redirects`);
      url = next;
    }
  } catch (error) {
    const why = limit.signal.aborted
      ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
      : requestFailure(error as Error, url);
    return failure(`Get "${url}": ${why}`);
  } finally {
    timer.cancel();
  }
}

const redirected = (location: string, base: URL) =>
  URL.canParse(location, String(base)) ? new URL(location, base) : undefined;

/** Describes why there was no response. */
export function requestFailure(error: Error, url: URL): string {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === 'ECONNRESET') return 'EOF';
  if (syscall !== 'connect' && syscall !== 'getaddrinfo') return error.message;
  return socketFailure(error, url.hostname.replace(/^\[|\]$/g, ''), Number(url.port || defaultPort(url)));
}

const defaultPort = ({ protocol }: URL) => (protocol === 'https:' ? 443 : 80);

/** Resolves with the response and the start of its body. */
export function request(target: HttpTarget, signal: AbortSignal): Promise<HttpResponse> {
  const { url, headers, userAgent, guard, allowance } = target;
  const isTls = url.protocol === 'https:';
  const options = {
    method: 'GET',
    signal,
    // A connection of its own: what is checked is whether the container accepts one.
    agent: false as const,
    lookup: guard.lookup(allowance),
    headers: headersOf(headers, userAgent),
    rejectUnauthorized: isTls ? false : undefined,
  };
  return new Promise((resolve, reject) => {
    guard.checkHost(url.hostname, allowance);
    const outgoing = (isTls ? https : http).request(url, options, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      const end = () => {
        const body = Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8');
        resolve({ code: response.statusCode ?? 0, location: response.headers.location, body });
        response.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length >= MAX_BODY_BYTES) end();
      });
      response.on('end', end);
      response.on('error', reject);
    });
    outgoing.on('error', reject);
    refuseUpgrade(outgoing);
    outgoing.end();
  });
}

/** An empty value of `Accept` or `User-Agent` removes that header. */
function headersOf(given: HttpTarget['headers'], userAgent: string): http.OutgoingHttpHeaders {
  // A header may be named as a property of every object.
  const headers: Record<string, string[]> = Object.create(null);
  for (const { name = '', value = '' } of given) {
    const key = name.toLowerCase();
    headers[key] = [...(headers[key] ?? []), value];
  }
  headers['user-agent'] ??= [userAgent];
  headers.accept ??= ['*/*'];
  for (const key of ['user-agent', 'accept']) if (headers[key]?.join('') === '') delete headers[key];
  const { host, ...others } = headers;
  return { ...others, connection: 'close', ...(host ? { host: host.at(-1) } : {}) };
}
