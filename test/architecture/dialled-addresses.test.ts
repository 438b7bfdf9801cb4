/**
 * What connects to an address on somebody's behalf has it checked by the guard of `src/base/dial/`. Who opens connections otherwise
 * says where the address comes from.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, isTest, root } from './source.ts';

const CONNECTION_OPENED = 'over a connection that is open, or that its caller opens with the guard';
const OPERATOR = 'the operator names the address, by a flag or a file';
const OWN_ADDRESSES = 'only the node and its own pods, as their runtime says';
const OWN_SOCKET = 'a socket or port of a pod or program of the node itself';
const VALIDATED = 'endpoints of EndpointSlices: their validation rejects loopback and link-local addresses';

/** Files that open connections without the guard. */
const OTHERS: Readonly<Record<string, string>> = {
  'src/base/dial/dial-guard.ts': 'the guard itself',
  'src/protocols/grpc/client.ts': OWN_SOCKET,
  'src/base/keyed-socket/keyed-socket.ts': OWN_SOCKET,
  'src/api/remote-command/client.ts': CONNECTION_OPENED,
  'src/cli/agent/connection.ts': OWN_ADDRESSES,
  'src/cli/proxy/forward.ts': OPERATOR,
  'src/cli/up/identity/fetch-json.ts': OPERATOR,
  'src/client/transport/https-transport.ts': OPERATOR,
  'src/client/transport/pinned-authority.ts': OPERATOR,
  'src/federation/dns/providers/http.ts': OPERATOR,
  'src/federation/dns/providers/rfc2136/connection.ts': OPERATOR,
  'src/network/dns/upstream/exchange.ts': OPERATOR,
  'src/network/userspace/tcp-front.ts': VALIDATED,
  'src/node/endpoint/routes/connect.ts': OWN_ADDRESSES,
  'src/node/process/keeper/dial.ts': OWN_SOCKET,
  'src/server/serving/aggregation/transport.ts': CONNECTION_OPENED,
  'src/server/outbound/services/send.ts': CONNECTION_OPENED,
  'src/server/outbound/services/tls-agent.ts': CONNECTION_OPENED,
  'src/server/operations/subresources/proxy/forward.ts': CONNECTION_OPENED,
  'src/server/outbound/webhooks/post.ts': 'a URL of the operator, or one whose caller gives it the lookup of the guard',
};

const IMPORT = /import (\{[^}]*\}|\* as \w+) from 'node:(?:net|tls|https?|http2)';/g;
const OPENS = /\b(?:connect|request|get|createConnection)\b/;
const GUARD = /from '[./]*base\/dial\/dial-guard\.ts'/;

function opensConnections(text: string): boolean {
  return [...text.matchAll(IMPORT)].some(([, names = '']) => {
    const values = names.replace(/\btype \w+/g, '');
    return names.startsWith('*') || OPENS.test(values);
  });
}

const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const openers = filesBelow('src', '.ts').filter((path) => !isTest(path) && opensConnections(textOf(path)));

test('addresses are checked before they are dialled', () => {
  expect(openers.filter((path) => !GUARD.test(textOf(path)) && !(path in OTHERS))).toEqual([]);
});

test('files that dial without the guard still do so', () => {
  expect(Object.keys(OTHERS).filter((path) => !openers.includes(path))).toEqual([]);
});

test.each([
  ["import { connect } from 'node:net';", true],
  ["import { type Socket, connect as connectTcp } from 'node:net';", true],
  ["import * as http from 'node:http';", true],
  ["import {\n  request,\n} from 'node:https';", true],
  ["import { isIP } from 'node:net';", false],
  ["import type { ClientRequest } from 'node:http';", false],
  ["import { type ClientRequest, createServer } from 'node:http';", false],
])('%s opens connections: %s', (text, expected) => {
  expect(opensConnections(text)).toBe(expected);
});
