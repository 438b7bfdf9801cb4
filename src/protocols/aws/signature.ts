/** Signature Version 4 of AWS. Pure: the time is passed in. */
import { createHash, createHmac } from 'node:crypto';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface AwsRequest {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. `x-amz-content-sha256` is taken for the hash of the body. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The headers to send with the request: its own, the time and the signature. All of them are signed. */
export function signedHeaders(
  request: AwsRequest,
  keys: AwsKeys,
  { region, service, now }: { readonly region: string; readonly service: string; readonly now: number },
): Record<string, string> {
  const { host, pathname, searchParams } = new URL(request.url);
  const time = new Date(now).toISOString().replace(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = {
    ...request.headers,
    host,
    'x-amz-date': time,
    ...(keys.sessionToken ? { 'x-amz-security-token': keys.sessionToken } : {}),
  };
  const names = Object.keys(headers).sort();
  const query = [...searchParams]
    .map(([key, value]) => `${escaped(key)}=${escaped(value)}`)
    .sort()
    .join('&');
  const canonical = [
    ...[
      request.method,
      pathname
        .split('/')
        .map((part) => escaped(decodeURIComponent(part)))
        .join('/'),
      query,
    ],
    ...names.map((name) => `${name}:${headers[name]!.trim().replace(/\s+/g, ' ')}`),
    ...['', names.join(';'), headers['x-amz-content-sha256'] ?? sha256(request.body)],
  ].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const key = scope
    .split('/')
    .reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${keys.secretAccessKey}`);
  const signature = hmac(key, [ALGORITHM, time, scope, sha256(canonical)].join('\n')).toString('hex');
  const { host: _, ...sent } = headers;
  return {
    ...sent,
    authorization: `${ALGORITHM} Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

/** Escapes as RFC 3986 demands: JavaScript leaves some characters as they are. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();
