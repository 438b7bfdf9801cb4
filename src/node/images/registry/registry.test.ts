/**
 * Tests pulls against a registry of this test's own, which can break in every way; test/registry.test.ts has a real
 * one.
 */

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { silent } from '../../../base/log.ts';
import { STRICT_GUARD } from '../../../base/sockets/dial/dial-guard.ts';
import { type Clock, ControlledClock, systemClock } from '../../../base/time/clock.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';
import { digestOf } from '../content/digest.ts';
import { platformOf } from '../content/platform.ts';
import { DirectoryImageStore } from '../store/directory-store.ts';
import { writeTar } from '../tar/write-tar.ts';
import { parseChallenge } from './authorization.ts';
import { hostsOf, type RegistrySettings } from './hosts.ts';
import { PROGRESS_WINDOW_MS } from './pull-progress.ts';
import { Registry } from './registry.ts';

const OCI = 'application/vnd.oci.image';
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const descriptor = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: digestOf(bytes), size: bytes.length });

/** Makes an image of one large layer, as a registry has it. */
async function makeImage() {
  const big = Buffer.alloc(300_000, 'abc');
  const layer = await buffer(writeTar([{ type: 'file', path: 'big', size: big.length, content: [big] }]));
  const config = json({ config: {}, rootfs: { diff_ids: [digestOf(layer)] } });
  const manifest = json({
    schemaVersion: 2,
    mediaType: `${OCI}.manifest.v1+json`,
    config: descriptor(`${OCI}.config.v1+json`, config),
    layers: [descriptor(`${OCI}.layer.v1.tar`, layer)],
  });
  const platform = platformOf(process.arch);
  const index = json({
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests: [
      { ...descriptor(`${OCI}.manifest.v1+json`, config), platform: { os: 'windows', architecture: 'amd64' } },
      { ...descriptor(`${OCI}.manifest.v1+json`, manifest), platform },
    ],
  });
  return { layer, config, manifest, index };
}

let directory: string;
let server: Server;
let address: string;
let image: Awaited<ReturnType<typeof makeImage>>;
/** Every request, as `path authorization`. */
let requests: string[];
/** Looks at a request first; returns whether it has answered. */
let intercept: (request: IncomingMessage, response: ServerResponse) => boolean;

beforeEach(async () => {
  directory = temporaryDirectory();
  image = await makeImage();
  requests = [];
  intercept = () => false;
  server = createServer((request, response) => {
    requests.push(`${request.url} ${request.headers.authorization ?? '-'}`);
    if (!intercept(request, response)) respond(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function respond(request: IncomingMessage, response: ServerResponse): void {
  const bytes = contentOf(request.url!.replace(/\?.*/, ''));
  if (!bytes) {
    response.writeHead(404).end(json({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }));
    return;
  }
  const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
  response.writeHead(start > 0 ? 206 : 200).end(bytes.subarray(start));
}

function contentOf(path: string): Buffer | undefined {
  const prefix = '/v2/team/app';
  const contents: Record<string, Buffer> = { [`${prefix}/manifests/1`]: image.index };
  for (const bytes of [image.manifest, image.index]) contents[`${prefix}/manifests/${digestOf(bytes)}`] = bytes;
  for (const bytes of [image.config, image.layer]) contents[`${prefix}/blobs/${digestOf(bytes)}`] = bytes;
  return contents[path];
}

const NO_SETTINGS: RegistrySettings = { mirrors: {}, insecure: [] };

function open(settings = NO_SETTINGS, clock: Clock = systemClock): Promise<DirectoryImageStore> {
  return DirectoryImageStore.open({
    directory: join(directory, 'images'),
    clock: systemClock,
    log: silent,
    source: new Registry(settings, clock, STRICT_GUARD),
    platform: platformOf(process.arch),
    isRoot: false,
  });
}

async function pull(credentials?: RegistryCredentials, settings?: RegistrySettings): Promise<DirectoryImageStore> {
  const store = await open(settings);
  await store.pull(`${address}/team/app:1`, credentials);
  return store;
}

const pathsOf = (part: string) => requests.filter((line) => line.includes(part));
const layerPath = () => `/v2/team/app/blobs/${digestOf(image.layer)}`;

test('an index is followed to the image of this machine', async () => {
  const store = await pull();
  const id = digestOf(image.config);
  expect(await store.list()).toMatchObject([
    { id, tags: [`${address}/team/app:1`], digests: [`${address}/team/app@${digestOf(image.index)}`] },
  ]);
  expect(readFileSync(join(await store.unpack(id), 'big')).length).toBe(300_000);
});

test('blobs that are there are not fetched again', async () => {
  const store = await pull();
  requests = [];
  await store.pull(`${address}/team/app@${digestOf(image.index)}`, undefined);
  expect(pathsOf('/blobs/')).toEqual([]);
  expect(pathsOf('/manifests/')).toHaveLength(2);
});

test('a broken connection is continued where it broke', async () => {
  let left = 3;
  const ranges: (string | undefined)[] = [];
  intercept = (request, response) => {
    if (request.url !== layerPath()) return false;
    ranges.push(request.headers.range);
    if (left-- === 0) return false;
    const start = Number(/\d+/.exec(request.headers.range ?? '0')![0]);
    response.writeHead(start > 0 ? 206 : 200, { 'Content-Length': image.layer.length - start });
    response.write(image.layer.subarray(start, start + 1000), () => response.destroy());
    return true;
  };
  const store = await pull();
  expect(ranges).toEqual([undefined, 'bytes=1000-', 'bytes=2000-', 'bytes=3000-']);
  await store.unpack(digestOf(image.config));
});

test('a server without ranges sends everything again', async () => {
  let attempts = 0;
  intercept = (request, response) => {
    if (request.url !== layerPath()) return false;
    response.writeHead(200, { 'Content-Length': image.layer.length });
    if (attempts++ === 0) response.write(image.layer.subarray(0, 5000), () => response.destroy());
    else response.end(image.layer);
    return true;
  };
  await (await pull()).unpack(digestOf(image.config));
  expect(attempts).toBe(2);
});

test('a connection that brings nothing again and again is given up', async () => {
  intercept = (request, response) => {
    if (request.url !== layerPath()) return false;
    response.destroy();
    return true;
  };
  await expect(pull()).rejects.toMatchObject({ code: 'RegistryUnavailable' });
  expect(pathsOf('/blobs/').length).toBeLessThan(10);
});

test.each([
  ['another content', (layer: Buffer) => Buffer.alloc(layer.length)],
  ['more content', (layer: Buffer) => Buffer.concat([layer, layer])],
])('%s than the manifest says is an error, and nothing is kept', async (_, change) => {
  intercept = (request, response) => {
    if (request.url !== layerPath()) return false;
    response.end(change(image.layer));
    return true;
  };
  await expect(pull()).rejects.toThrow('is damaged');
  expect(await (await open()).list()).toEqual([]);
});

/** Lets the time of one window pass after this number of requests for the layer. */
async function pullSlowly(
  answerLayer: (response: ServerResponse, request: IncomingMessage) => void,
  requestsBefore: number,
): Promise<void> {
  const clock = new ControlledClock();
  const store = await open(NO_SETTINGS, clock);
  let count = 0;
  intercept = (request, response) => {
    if (request.url !== layerPath()) return false;
    answerLayer(response, request);
    if (++count === requestsBefore) void clock.advance(PROGRESS_WINDOW_MS);
    return true;
  };
  await store.pull(`${address}/team/app:1`, undefined);
}

const TOO_SLOW = { code: 'RegistryUnavailable', message: expect.stringContaining('bytes of the image in 5 minutes') };

test.each<[string, number, (response: ServerResponse, request: IncomingMessage) => void]>([
  ['sends nothing', 1, () => {}],
  ['sends a byte now and then', 1, (response) => void response.writeHead(200).write('x')],
  ['sends its headers a byte at a time', 1, ({ socket }) => void socket!.write('HTTP/1.1 200 OK\r\nX: ')],
  [
    'breaks off after each byte',
    10,
    (response, { headers }) => {
      const [, from = 0] = /bytes=(\d+)/.exec(headers.range ?? '') ?? [];
      response.writeHead(206, { 'Content-Length': image.layer.length - Number(from) });
      response.write(image.layer.subarray(Number(from), Number(from) + 1), () => response.destroy());
    },
  ],
])('a registry that %s is given up', async (_, requestsBefore, answerLayer) => {
  await expect(pullSlowly(answerLayer, requestsBefore)).rejects.toMatchObject(TOO_SLOW);
});

test('an image that the disk has no room for is not fetched', async () => {
  const manifest = JSON.parse(image.manifest.toString());
  manifest.layers[0].size = 2 ** 52;
  image.index = json(manifest);
  await expect(pull()).rejects.toThrow(/the image needs more space than the disk of .* has to spare/);
  expect(pathsOf('/blobs/')).toEqual([]);
});

test('a tag that does not exist is ImageNotFound, in the words of containerd', async () => {
  const store = await open();
  const name = `${address}/team/app:2`;
  await expect(store.pull(name, undefined)).rejects.toMatchObject({
    code: 'ImageNotFound',
    message: `failed to pull and unpack image "${name}": failed to resolve reference "${name}": http://${address}/v2/team/app/manifests/2: not found`,
  });
});

test('a registry that cannot be reached is RegistryUnavailable', async () => {
  const store = await open();
  await expect(store.pull('127.0.0.1:1/app', undefined)).rejects.toMatchObject({ code: 'RegistryUnavailable' });
});

const CREDENTIALS = { username: 'me', password: 'secret' };
const BASIC = `Basic ${Buffer.from('me:secret').toString('base64')}`;

function demand(challenge: string, wanted: string): void {
  intercept = (request, response) => {
    if (!request.url!.startsWith('/v2/') || request.headers.authorization === wanted) return false;
    response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
    return true;
  };
}

test('a password is sent when the registry asks for it, and not before', async () => {
  demand('Basic realm="x"', BASIC);
  await pull(CREDENTIALS);
  expect(requests[0]).toMatch(/ -$/);
  expect(requests.slice(1).every((line) => line.endsWith(BASIC))).toBe(true);
});

test('a private image is rejected without credentials', async () => {
  demand('Basic realm="x"', BASIC);
  await expect(pull()).rejects.toThrow(/pull access denied, repository does not exist or may require authorization/);
});

test.each([
  ['a password', CREDENTIALS, BASIC],
  ['nothing', undefined, '-'],
])('a token is fetched with %s', async (_, credentials, sent) => {
  demand(`Bearer realm="http://${address}/token",service="reg,istry"`, 'Bearer t0ken');
  const forRegistry = intercept;
  intercept = (request, response) => {
    if (!request.url!.startsWith('/token')) return forRegistry(request, response);
    response.end(json({ token: 't0ken' }));
    return true;
  };
  await pull(credentials);
  expect(pathsOf('/token')).toEqual([`/token?service=reg%2Cistry&scope=repository%3Ateam%2Fapp%3Apull ${sent}`]);
});

test('an identity token is exchanged for a token', async () => {
  demand(`Bearer realm="http://${address}/token",service="s",scope="repository:team/app:pull"`, 'Bearer t0ken');
  const forRegistry = intercept;
  let form = '';
  intercept = (request, response) => {
    if (!request.url!.startsWith('/token')) return forRegistry(request, response);
    request.on('data', (part) => {
      form += part;
    });
    request.on('end', () => response.end(json({ access_token: 't0ken' })));
    return true;
  };
  await pull({ username: '', password: '', identityToken: 'refresh-me' });
  expect(Object.fromEntries(new URLSearchParams(form))).toEqual({
    grant_type: 'refresh_token',
    service: 's',
    scope: 'repository:team/app:pull',
    client_id: 'quarterdeck',
    refresh_token: 'refresh-me',
  });
});

test('a redirect is followed, and another host does not see the credentials', async () => {
  demand('Basic realm="x"', BASIC);
  const forRegistry = intercept;
  const other = await otherHost((_request, response) => response.end(image.layer));
  intercept = (request, response) => {
    if (forRegistry(request, response)) return true;
    if (request.url !== layerPath()) return false;
    response.writeHead(307, { Location: `${other}/x` }).end();
    return true;
  };
  await pull(CREDENTIALS);
  expect(pathsOf('other')).toEqual(['other /x -']);
});

/** Starts another host, which records its requests. */
async function otherHost(respondTo: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const other = createServer((request, response) => {
    requests.push(`other ${request.url} ${request.headers.authorization ?? '-'}`);
    respondTo(request, response);
  });
  others.push(other);
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
}
const others: Server[] = [];
afterEach(() => {
  for (const other of others.splice(0)) {
    other.closeAllConnections();
    other.close();
  }
});

test('a host that the registry redirects to cannot ask for its credentials', async () => {
  const other = await otherHost((request, response) => {
    const challenge = `Bearer realm="http://${request.headers.host}/token"`;
    if (request.url === '/token') response.end(json({ token: 't' }));
    else response.writeHead(401, { 'WWW-Authenticate': challenge }).end();
  });
  intercept = (request, response) => {
    if (request.url !== layerPath()) return false;
    response.writeHead(307, { Location: `${other}/x` }).end();
    return true;
  };
  await expect(pull(CREDENTIALS)).rejects.toThrow('pull access denied');
  expect(pathsOf('/token')).toEqual([]);
  expect(requests.filter((line) => !line.endsWith(' -'))).toEqual([]);
});

test('a refresh token is not redirected to another host', async () => {
  const other = await otherHost((_request, response) => response.end(json({ token: 't' })));
  demand(`Bearer realm="http://${address}/token",service="s"`, 'Bearer t0ken');
  const forRegistry = intercept;
  intercept = (request, response) => {
    if (!request.url!.startsWith('/token')) return forRegistry(request, response);
    response.writeHead(307, { Location: `${other}/token` }).end();
    return true;
  };
  await expect(pull({ username: '', password: '', identityToken: 'refresh-me' })).rejects.toThrow(
    'redirects credentials to',
  );
  expect(pathsOf('other')).toEqual([]);
});

test.each([
  ['redirects with a body without end', 'HTTP/1.1 307 R\r\nLocation: /v2/team/app/manifests/2\r\n\r\n', 'not found'],
  ['redirects to nowhere', 'HTTP/1.1 307 R\r\nLocation: http://[\r\n\r\n', 'redirects to an invalid address'],
  ['asks with a realm that is no address', 'HTTP/1.1 401 U\r\nWWW-Authenticate: Bearer realm="x"\r\n\r\n', 'realm'],
  ['switches protocols', 'HTTP/1.1 101 S\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', 'another protocol'],
])('a registry that %s is an error', async (_, head, message) => {
  const open: Socket[] = [];
  intercept = (request) => {
    if (!request.url!.endsWith('/manifests/1')) return false;
    open.push(request.socket);
    request.socket.write(head);
    request.socket.write('x'.repeat(100_000));
    return true;
  };
  await expect(pull()).rejects.toThrow(message);
  await expect.poll(() => open.every((socket) => socket.destroyed || socket.readableEnded)).toBe(true);
});

test('a configuration that is too large is not fetched', async () => {
  const manifest = JSON.parse(image.manifest.toString());
  manifest.config.size = 4 * 1024 * 1024 + 1;
  image.index = json(manifest);
  await expect(pull()).rejects.toThrow('has a configuration that is too large');
  expect(pathsOf('/blobs/')).toEqual([]);
});

test('a manifest that is nested without end is rejected', async () => {
  image.index = Buffer.from('['.repeat(4_000_000));
  await expect(pull()).rejects.toThrow('is not JSON');
});

test('mirrors are asked first, without credentials, and the registry when they fail', async () => {
  const store = await open({ mirrors: { 'docker.io': ['http://127.0.0.1:1', `http://${address}/`] }, insecure: [] });
  await store.pull('team/app:1', CREDENTIALS);
  expect(requests[0]).toBe('/v2/team/app/manifests/1?ns=docker.io -');
  expect(await store.list()).toMatchObject([{ tags: ['docker.io/team/app:1'] }]);
});

test.each([
  ['docker.io', [{ url: 'https://registry-1.docker.io', isInsecure: false }]],
  ['example.com:5000', [{ url: 'https://example.com:5000', isInsecure: false }]],
  ['localhost', [{ url: 'http://localhost', isInsecure: false }]],
  ['127.0.0.1:5000', [{ url: 'http://127.0.0.1:5000', isInsecure: false }]],
  ['[::1]:5000', [{ url: 'http://[::1]:5000', isInsecure: false }]],
  ['localhost:443', [{ url: 'https://localhost:443', isInsecure: false }]],
  [
    'lab:5000',
    [
      { url: 'https://lab:5000', isInsecure: true },
      { url: 'http://lab:5000', isInsecure: true },
    ],
  ],
])('images of %s come from %j', (registry, hosts) => {
  expect(hostsOf(registry, { mirrors: {}, insecure: ['lab:5000'] })).toEqual(hosts);
});

test('challenges are read with commas and quotes in their values', () => {
  expect(parseChallenge('Bearer realm="https://a/b?c=d,e", service=x,scope="a \\"b\\""')).toEqual({
    scheme: 'bearer',
    parameters: { realm: 'https://a/b?c=d,e', service: 'x', scope: 'a "b"' },
  });
});
