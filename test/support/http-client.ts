import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { request as requestHttps } from 'node:https';

export interface Answer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly text: string;
  /** The body as JSON. */
  json(): any;
}

export interface Asked {
  readonly port: number;
  readonly ca: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** A client certificate. */
  readonly key?: string;
  readonly cert?: string;
}

function answerOf(code: number, headers: Answer['headers'], body: Buffer): Answer {
  return { code, headers, body, text: body.toString('utf8'), json: () => JSON.parse(body.toString('utf8')) };
}

/** Sends one request over HTTP/1.1. */
export function askHttp1({ body, headers, ...rest }: Asked): Promise<Answer> {
  const framing =
    body === undefined || headers?.['transfer-encoding'] ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options = { host: '127.0.0.1', agent: false, ...rest, headers: { ...framing, ...headers } } as const;
  return new Promise((resolve, reject) => {
    const request = requestHttps(options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))));
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Sends one request over HTTP/2, on a new connection or a given one. */
export async function askHttp2(asked: Asked, shared?: ClientHttp2Session): Promise<Answer> {
  const { port, ca, key, cert, path, method = 'GET', headers, body } = asked;
  const session = shared ?? connectHttp2(`https://127.0.0.1:${port}`, { ca, ...(key && cert ? { key, cert } : {}) });
  let fail: (error: Error) => void = () => undefined;
  try {
    return await new Promise((resolve, reject) => {
      fail = reject;
      session.on('error', fail);
      const stream = session.request(
        { ':path': path, ':method': method, ...headers },
        { endStream: body === undefined },
      );
      const chunks: Buffer[] = [];
      let head: Record<string, any> = {};
      stream.on('response', (received) => {
        head = received;
      });
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => resolve(answerOf(Number(head[':status']), head, Buffer.concat(chunks))));
      stream.on('error', reject);
      if (body !== undefined) stream.end(body);
    });
  } finally {
    session.off('error', fail);
    if (!shared) session.close();
  }
}
