/** Tests many requests at the same time on one HTTP/2 session. */
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Reply } from '../../../src/api/reply.ts';
import { MAX_SERVED_STREAMS } from '../../../src/server/serving/http/listen/multiplexed-requests.ts';
import { askHttp1 } from '../http-client.ts';
import { type RunningServer, type StartServer, TOKEN } from '../http-server.ts';

export function multiplexingContract(startServer: StartServer): void {
  const PODS = '/api/v1/namespaces/default/pods';
  const HEADERS = { authorization: `Bearer ${TOKEN}` };

  let running: RunningServer;
  let session: ClientHttp2Session;

  beforeEach(async () => {
    running = await startServer();
    session = connect(`https://127.0.0.1:${running.port}`, { ca: running.authority.ca });
    session.on('error', () => undefined);
    await once(session, 'connect');
  });

  afterEach(async () => {
    session.destroy();
    await running.server.close();
  });

  const get = (path: string): ClientHttp2Stream =>
    session.request({ ':path': path, ...HEADERS }).on('error', () => undefined);

  const post = (body: string): ClientHttp2Stream => {
    const headers = { ...HEADERS, 'content-type': 'application/json', 'content-length': body.length };
    const stream = session.request({ ':method': 'POST', ':path': PODS, ...headers });
    stream.on('error', () => undefined).end(body);
    return stream;
  };

  async function codeOf(stream: ClientHttp2Stream): Promise<number> {
    const [headers] = await once(stream, 'response');
    stream.resume();
    return headers[':status'];
  }

  const names = (): (string | undefined)[] => running.core.calls.map(({ name }) => name);

  /** Makes gets wait until the result is called. */
  function holdGets(): () => void {
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { core } = running;
    core.answer = async (call): Promise<Reply> => {
      if (call.verb === 'get') await held;
      return core.ordinary(call);
    };
    return go;
  }

  /** Makes round trips of another client, which give the server time for wrong actions. */
  async function otherRequests(count: number): Promise<void> {
    const { port, authority } = running;
    for (let i = 0; i < count; i++) await askHttp1({ path: PODS, headers: HEADERS, port, ca: authority.ca });
  }

  it('serves only some of the requests at a time, and answers all of them', async () => {
    const go = holdGets();
    const streams = Array.from({ length: 200 }, (_, i) => get(`${PODS}/pod-${i}`));
    await otherRequests(20);
    expect(names().filter((name) => name?.startsWith('pod-'))).toHaveLength(MAX_SERVED_STREAMS);
    const codes = Promise.all(streams.map(codeOf));
    go();
    expect(await codes).toEqual(streams.map(() => 200));
  });

  it('watches keep no other request waiting', async () => {
    const watches = Array.from({ length: 2 * MAX_SERVED_STREAMS }, () => get(`${PODS}?watch=true`));
    expect(await Promise.all(watches.map(codeOf))).toEqual(watches.map(() => 200));
    expect(await codeOf(get(`${PODS}/a`))).toBe(200);
  });

  it('does not serve a request that is reset while it waits', async () => {
    const go = holdGets();
    const served = Array.from({ length: MAX_SERVED_STREAMS }, (_, i) => get(`${PODS}/pod-${i}`));
    const reset = [get(`${PODS}/reset`), post('{"metadata":{"name":"reset"}}')];
    const last = get(`${PODS}/last`);
    await otherRequests(5);
    for (const stream of reset) stream.close(constants.NGHTTP2_CANCEL);
    await Promise.all(reset.map((stream) => once(stream, 'close')));
    await otherRequests(5);
    const codes = Promise.all([...served, last].map(codeOf));
    go();
    await codes;
    const asked = running.core.calls.filter(({ verb, name }) => verb === 'create' || name === 'reset');
    expect(asked).toEqual([]);
    expect(names()).toContain('last');
  });

  it('requests that are reset while they are served make room for others', async () => {
    const go = holdGets();
    const reset = Array.from({ length: MAX_SERVED_STREAMS }, (_, i) => get(`${PODS}/pod-${i}`));
    const last = get(`${PODS}/last`);
    await otherRequests(5);
    expect(names()).not.toContain('last');
    for (const stream of reset) stream.close(constants.NGHTTP2_CANCEL);
    while (!names().includes('last')) await otherRequests(1);
    const code = codeOf(last);
    go();
    expect(await code).toBe(200);
  });

  it('bodies that arrive on waiting streams do not keep those of others from arriving', async () => {
    const body = (i: number) => JSON.stringify({ metadata: { name: `pod-${i}` }, spec: { text: 'x'.repeat(100_000) } });
    const streams = Array.from({ length: 100 }, (_, i) => post(body(i)));
    expect(await Promise.all(streams.map(codeOf))).toEqual(streams.map(() => 200));
  });
}
