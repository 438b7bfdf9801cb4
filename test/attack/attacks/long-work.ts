/** Requests whose work is long in one place: one patch, one validation, one text, one event. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import type { Attack, AttackContext } from '../attack.ts';

const CONFIG_MAPS = '/api/v1/namespaces/tenant/configmaps';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'long-work.example.com';

const list = <T>(length: number, item: (i: number) => T) => Array.from({ length }, (_, i) => item(i));
const map = <T>(length: number, name: string, value: T) =>
  Object.fromEntries(list(length, (i) => [`${name}${i}`, value]));

export const manyAnnotations: Attack = {
  name: 'json patch of many annotations',
  async run({ tenant }) {
    await tenant.send('POST', CONFIG_MAPS, { body: { metadata: { name: 'annotated' } } });
    const body = [
      { op: 'add', path: '/metadata/annotations', value: map(60_000, 'a', 'x') },
      ...list(9_000, (i) => ({
        ...{ op: 'copy', from: '/metadata/annotations/a1', path: `/metadata/annotations/b${i}` },
      })),
    ];
    const type = 'application/json-patch+json';
    for (let i = 0; i < 3; i++) await tenant.send('PATCH', `${CONFIG_MAPS}/annotated`, { body, type });
    await tenant.send('DELETE', `${CONFIG_MAPS}/annotated`);
  },
};

export const manyAttributes: Attack = {
  name: 'devices with many attributes',
  async run({ admin }) {
    const path = '/apis/resource.k8s.io/v1/resourceslices';
    const devices = (more: object) => list(100, (i) => ({ name: `d${i}`, ...more }));
    const pool = { name: 'p', generation: 1, resourceSliceCount: 1 };
    const slice = { driver: 'd.example.com', nodeName: 'n', pool };
    const attributes = map(400, 'example.com/a', { string: 'x' });
    const capacity = map(400, 'example.com/a', { value: '1' });
    for (const more of [{ attributes }, { capacity }]) {
      const body = { metadata: { name: 'long' }, spec: { ...slice, devices: devices(more) } };
      for (let i = 0; i < 2; i++) await admin.send('POST', path, { body });
    }
  },
};

export const manyPeers: Attack = {
  name: 'network policy with many peers',
  async run({ tenant }) {
    const path = '/apis/networking.k8s.io/v1/namespaces/tenant/networkpolicies';
    const blocks = list(10_000, (i) => {
      const [net, host] = [(i >> 8) & 255, i & 255];
      return {
        ipBlock: { cidr: `10.${net}.0.0/16`, except: [`10.${net}.${host}.0/24`, `10.${net}.${host}.8/32`] },
      };
    });
    const selectors = list(10_000, (i) => ({ podSelector: { matchLabels: { [`a${i}`]: 'b' } } }));
    for (const from of [blocks, selectors]) {
      const body = { metadata: { name: 'long' }, spec: { podSelector: {}, ingress: [{ from }] } };
      await tenant.send('POST', path, { body });
      await tenant.send('DELETE', `${path}/long`);
    }
  },
};

async function define(admin: AttackContext['admin'], plural: string, spec: object): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
  const versions = [{ name: 'v1', served: true, storage: true, schema }];
  const names = { plural, kind: plural };
  const body = { metadata: { name: `${plural}.${GROUP}` }, spec: { group: GROUP, scope: 'Cluster', names, versions } };
  await admin.send('POST', DEFINITIONS, { body });
  // The kind is served a moment later.
  for (let code = 0; code !== 200; ) {
    await wait(20);
    ({ code } = await admin.send('GET', `/apis/${GROUP}/v1/${plural}?limit=1`));
  }
}

const create = (admin: AttackContext['admin'], kind: string, spec: object) =>
  admin.send('POST', `/apis/${GROUP}/v1/${kind}`, {
    body: { apiVersion: `${GROUP}/v1`, kind, metadata: { generateName: 'a-' }, spec },
  });

export const longPatterns: Attack = {
  name: 'patterns on long texts',
  async run({ admin }) {
    const patterns = {
      dns: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
      nested: '^(([a-z])+.)+[A-Z]([a-z])+$',
      letters: '^\\p{L}+(\\.\\p{L}+)*$',
    };
    const fields = Object.entries(patterns).map(([name, pattern]) => [name, { type: 'string', pattern }]);
    await define(admin, 'longpatterns', { type: 'object', properties: Object.fromEntries(fields) });
    const texts = ['a'.repeat(1_000_000), `${'a'.repeat(2_800_000)}!`, 'a.'.repeat(500_000), 'äß'.repeat(500_000)];
    for (const name of Object.keys(patterns)) {
      for (const text of texts) await create(admin, 'longpatterns', { [name]: text });
    }
    await admin.send('DELETE', `${DEFINITIONS}/longpatterns.${GROUP}`);
  },
};

export const manyAlternatives: Attack = {
  name: 'compositions of many schemas',
  async run({ admin }) {
    const strings = { type: 'array', items: { type: 'string' } };
    const kinds = {
      allof: { ...strings, allOf: list(3_000, (i) => ({ items: { maxLength: 100 + i } })) },
      anyof: { ...strings, anyOf: list(3_000, (i) => ({ items: { minLength: 100 + i } })) },
      oneof: { ...strings, oneOf: list(3_000, (i) => ({ items: { minLength: 100 + i } })) },
    };
    for (const [plural, spec] of Object.entries(kinds)) {
      await define(admin, plural, { type: 'object', properties: { list: spec } });
      for (const length of [1, 160, 10_000]) await create(admin, plural, { list: new Array(length).fill('a') });
      await admin.send('DELETE', `${DEFINITIONS}/${plural}.${GROUP}`);
    }
    const text = { type: 'string', anyOf: list(3_000, (i) => ({ maxLength: i })) };
    await define(admin, 'lengths', { type: 'object', properties: { text } });
    await create(admin, 'lengths', { text: 'a'.repeat(1_000_000) });
    await admin.send('DELETE', `${DEFINITIONS}/lengths.${GROUP}`);
  },
};

const WATCHES = 4_372;
/** A client may have fewer connections from one address. */
const ADDRESSES = 5;
const CONCURRENT_HANDSHAKES = 20;

export const manyWatches: Attack = {
  name: 'one event for many watches',
  async run(context) {
    const { tenant } = context;
    await tenant.send('POST', CONFIG_MAPS, { body: { metadata: { name: 'watched' } } });
    const sockets: TLSSocket[] = [];
    while (sockets.length < WATCHES) {
      const opening = list(Math.min(CONCURRENT_HANDSHAKES, WATCHES - sockets.length), (i) =>
        openWatch(context, sockets.length + i),
      );
      sockets.push(...(await Promise.all(opening)));
    }
    for (let i = 0; i < 5; i++) {
      const seen = Promise.all(sockets.map((socket) => once(socket, 'data')));
      const body = { data: { count: String(i) } };
      await tenant.send('PATCH', `${CONFIG_MAPS}/watched`, { body, type: 'application/merge-patch+json' });
      await seen;
    }
    for (const socket of sockets) socket.destroy();
    await tenant.send('DELETE', `${CONFIG_MAPS}/watched`);
  },
};

/** Resolves when the watch has shown the object. */
async function openWatch({ target }: AttackContext, i: number): Promise<TLSSocket> {
  const { port, tokens } = target;
  const [ca, localAddress] = [await target.ca(), `127.0.0.${1 + (i % ADDRESSES)}`];
  // `localAddress` is passed on to the connection; the types of TLS do not know it.
  const to = { port, host: '127.0.0.1', localAddress };
  const socket = connect({ ...to, ca, ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const query = '?watch=1&fieldSelector=metadata.name%3Dwatched';
  const head = `Host: localhost\r\nAuthorization: Bearer ${tokens.tenant}`;
  socket.write(`GET ${CONFIG_MAPS}${query} HTTP/1.1\r\n${head}\r\n\r\n`);
  for (let text = ''; !text.includes('ADDED'); ) text += String((await once(socket, 'data'))[0]);
  return socket.on('data', () => undefined);
}
