import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

interface Question {
  readonly port: number;
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Body, which makes the request a POST. */
  readonly body?: string | undefined;
}

/** Sends one request on a new connection to this machine. */
export async function ask({ port, path, headers = {}, body }: Question): Promise<{
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}> {
  const method = body === undefined ? 'GET' : 'POST';
  const call = request({ host: '127.0.0.1', port, path, method, headers, agent: false, timeout: 15_000 });
  call.on('timeout', () => call.destroy(new Error(`${path} was not answered in time`)));
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { status: response.statusCode, headers: response.headers, text: await text(response) };
}
