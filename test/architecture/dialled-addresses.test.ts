/**
 * Requires code that connects to an address on behalf of others to have it checked by the guard of `src/base/sockets/dial/`.
 * Other files that open connections are listed with the source of the address.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { analyse, filesBelow, isTest, root } from './source.ts';

const CONNECTION_OPENED = 'over a connection that is open, or that its caller opens with the guard';
const OPERATOR = 'the operator names the address, by a flag or a file';
const OWN_ADDRESSES = 'only the node and its own pods, as their runtime says';
const OWN_SOCKET = 'a socket or port of a pod or program of the node itself';
const VALIDATED = 'endpoints of EndpointSlices: their validation rejects loopback and link-local addresses';

/** Files that open connections without the guard. */
const OTHERS: Readonly<Record<string, string>> = {
  'src/base/sockets/dial/dial-guard.ts': 'the guard itself',
  'src/protocols/grpc/client.ts': OWN_SOCKET,
  'src/base/sockets/keyed-socket/keyed-socket.ts': OWN_SOCKET,
  'src/api/remote-command/client.ts': CONNECTION_OPENED,
  'src/assembly/node/connection.ts': OWN_ADDRESSES,
  'src/cli/proxy/upstream.ts': OPERATOR,
  'src/cli/up/ha/join.ts': OPERATOR,
  'src/cli/up/upgrade/rolling/ask.ts':
    'the operator names a server, whose leases name the others; all must have certificates of the authority that the operator names',
  'src/assembly/control-plane/fetch-json.ts': OPERATOR,
  'src/backup/targets/s3/http.ts': OPERATOR,
  'src/client/transport/http/https-transport.ts': OPERATOR,
  'src/client/transport/http/pinned-authority.ts': OPERATOR,
  'src/federation/dns/providers/http.ts': OPERATOR,
  'src/federation/dns/providers/rfc2136/driver.ts': OPERATOR,
  'src/network/dns/upstream/exchange.ts': OPERATOR,
  'src/network/dns/server/udp.ts': 'answers go to who has asked',
  'src/network/userspace/tcp-front.ts': VALIDATED,
  'src/network/userspace/udp-front.ts': VALIDATED,
  'src/node/endpoint/routes/connect.ts': OWN_ADDRESSES,
  'src/node/process/keeper/streams/dial.ts': OWN_SOCKET,
  'src/server/serving/aggregation/forwarding/transport.ts': CONNECTION_OPENED,
  'src/server/outbound/services/send.ts': CONNECTION_OPENED,
  'src/server/outbound/services/dial-service.ts': CONNECTION_OPENED,
  'src/server/operations/subresources/proxy/proxy.ts': CONNECTION_OPENED,
  'src/server/outbound/webhooks/post.ts': 'a URL of the operator, or one whose caller gives it the lookup of the guard',
};

const IMPORT = /\bimport (\{[^}]*\}|\* as \w+|\w+) from '(?:(?:node:)?(?:net|tls|https?|http2|dgram)|ws)'/g;
const LOADED_LATER = /\bimport\(\s*'(?:node:)?(?:net|tls|https?|http2|dgram)'/;
/** Functions that open connections. Every socket of `dgram` sends to the address that it is given. */
const OPENS = /\b(?:connect|request|get|createConnection|createSocket|WebSocket)\b/;
const CONSTRUCTED = /\bnew Socket\(\s*(?:\)|\{(?!\s*fd\b))/;
const FETCHED = /(?<![.#\w])(?<!async )fetch\(|\bglobalThis\.fetch\b/;
const GUARD = /from '[./]*base\/sockets\/dial\/dial-guard\.ts'/;
/** Having it is not enough: it is asked, or given to the agent that asks it for every connection. */
const ASKED = /\.(?:checkHost|lookup|connect|rejectionOf)\(|\bnew BackendAgent\(guard\b/;

function opensConnections(text: string): boolean {
  const bindings = [...text.matchAll(IMPORT)].some(([, names = '']) => {
    const values = names.replace(/\btype \w+/g, '');
    return !names.startsWith('{') || OPENS.test(values);
  });
  const { code } = analyse(text);
  return bindings || LOADED_LATER.test(text) || CONSTRUCTED.test(code) || FETCHED.test(code);
}

const isGuarded = (text: string) => GUARD.test(text) && ASKED.test(analyse(text).code);

const textOf = (path: string) => readFileSync(join(root, path), 'utf8');
const openers = filesBelow('src', '.ts').filter((path) => !isTest(path) && opensConnections(textOf(path)));

test('addresses are checked before they are dialled', () => {
  expect(openers.filter((path) => !isGuarded(textOf(path)) && !(path in OTHERS))).toEqual([]);
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
  ["import { createSocket } from 'node:dgram';", true],
  ["import http from 'http';", true],
  ["const { request } = await import('node:http');", true],
  ["import { WebSocket } from 'ws';", true],
  ["import { WebSocketServer } from 'ws';", false],
  ['await fetch(url);', true],
  ['await transport.fetch(path);', false],
  ["import { Socket } from 'node:net'; new Socket().connect(80, host);", true],
  ["import { Socket } from 'node:net'; new Socket({ fd: 3 });", false],
])('%s opens connections: %s', (text, expected) => {
  expect(opensConnections(text)).toBe(expected);
});

test.each([
  ["import { DialGuard } from '../base/sockets/dial/dial-guard.ts'; request(url);", false],
  ["import { type DialGuard } from '../base/sockets/dial/dial-guard.ts'; request({ lookup: guard.lookup() });", true],
])('%s has addresses checked: %s', (text, expected) => {
  expect(isGuarded(text)).toBe(expected);
});
