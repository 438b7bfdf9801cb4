import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, askHttp1, askHttp2 } from '../../../../../test/support/http-client.ts';
import { type RunningServer, startServer, TOKEN } from '../../../../../test/support/http-server.ts';
import { allKinds } from '../../../../kinds/all.ts';
import { Registry } from '../../../objects/registry/registry.ts';
import { allSubresources } from '../../../operations/subresources/all.ts';
import { published } from './published.ts';

it('keeps a large document in memory that the front thread can read', () => {
  const { body } = published({ large: 'ä'.repeat(100_000) }, 'application/json');
  expect(body.buffer).toBeInstanceOf(SharedArrayBuffer);
  expect(JSON.parse(body.toString())).toEqual({ large: 'ä'.repeat(100_000) });
});

let running: RunningServer;

beforeAll(async () => {
  running = await startServer({ registry: new Registry(allKinds, allSubresources) });
});

afterAll(() => running.server.close());

describe.each([
  ['HTTP/1.1', askHttp1],
  ['HTTP/2', askHttp2],
])('schemas over %s', (_, ask) => {
  const send = ({ path, method = 'GET', headers = {} }: Pick<Asked, 'path' | 'method' | 'headers'>) =>
    ask({
      port: running.port,
      ca: running.authority.ca,
      path,
      method,
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    });

  it('have an ETag, and are not sent again to clients that have them', async () => {
    const first = await send({ path: '/openapi/v2' });
    expect(first.code).toBe(200);
    expect(first.json().swagger).toBe('2.0');
    const etag = String(first.headers.etag);
    expect(etag).toMatch(/^"[0-9A-F]{64}"$/);
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await send({ path: '/openapi/v2', headers: { 'if-none-match': known } });
      expect([again.code, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await send({ path: '/openapi/v2', headers: { 'if-none-match': '"other"' } })).code).toBe(200);
  });

  it('are compressed for clients that support it', async () => {
    const plain = await send({ path: '/openapi/v2' });
    const smaller = await send({ path: '/openapi/v2', headers: { 'accept-encoding': 'gzip' } });
    expect(smaller.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(smaller.body).equals(plain.body)).toBe(true);
  });

  it('differ in their forms', async () => {
    const accept = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
    const answer = await send({ path: '/openapi/v2', headers: { accept } });
    expect(answer.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf');
    expect((await send({ path: '/openapi/v2', headers: { accept: 'text/html' } })).code).toBe(406);
  });

  it('are found at the addresses in their index', async () => {
    const { paths } = (await send({ path: '/openapi/v3' })).json();
    const answer = await send({ path: paths['api/v1'].serverRelativeURL });
    expect(answer.json().openapi).toBe('3.0.0');
  });

  it('are read-only', async () => {
    expect((await send({ path: '/openapi/v2', method: 'DELETE' })).code).toBe(405);
    expect((await send({ path: '/openapi/v4' })).code).toBe(404);
    expect((await send({ path: '/swaggerapi/' })).code).toBe(200);
  });
});
