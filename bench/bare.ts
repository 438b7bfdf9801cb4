/**
 * Measures Node and LMDB on this machine with nothing in between: the peer that every figure is printed beside. Over
 * TLS it answers the same bytes as the real server; a write is JSON parsing, two walks over the object and a durable
 * put, and a watch event is written to each watcher one by one.
 *
 * Argument: a JSON object (see BareOptions). Prints the port when it listens.
 */
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { open } from 'lmdb';

export interface BareOptions {
  readonly directory: string;
  readonly certificate: string;
  readonly key: string;
  /** Files with the answers of `/get`, `/list` and so on, and with one watch event. */
  readonly bodies: Readonly<Record<'get' | 'list' | 'label' | 'table' | 'openapi' | 'event', string>>;
}

const options: BareOptions = JSON.parse(process.argv[2] ?? '');
const bodies = Object.fromEntries(Object.entries(options.bodies).map(([name, file]) => [name, readFileSync(file)]));
const database = open<Buffer, string>({ path: options.directory, encoding: 'binary', overlappingSync: false });
const watchers = new Set<ServerResponse>();
let revision = 0;

const server = createServer(
  { cert: readFileSync(options.certificate), key: readFileSync(options.key) },
  (request, response) => {
    route(request, response).catch((error) => response.writeHead(500).end(String(error)));
  },
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));

async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [, what = '', name = ''] = request.url!.split('/');
  switch (what) {
    case 'watch':
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      watchers.add(response);
      response.on('close', () => watchers.delete(response));
      return;
    case 'emit':
      await readBody(request);
      for (const watcher of watchers) watcher.write(bodies.event);
      return send(response, Buffer.from('{}'));
    case 'unchanged':
      response.writeHead(304, { 'content-type': 'application/json' }).end();
      return;
    case 'create':
      return send(response, await write(JSON.parse(await readBody(request))));
    case 'patch': {
      const patch = JSON.parse(await readBody(request));
      const stored = database.getBinary(name) ?? bodies.get!;
      const object = JSON.parse(stored.toString());
      Object.assign(object.metadata.annotations, patch.metadata.annotations);
      return send(response, await write(object, name));
    }
    default:
      return send(response, bodies[what]!);
  }
}

/** Writes an object with two walks, as for defaults and for validation, and then the put. */
async function write(object: any, name = object.metadata.name as string): Promise<Buffer> {
  if (walk(object) + walk(object) === 0) throw new Error('empty');
  object.metadata.resourceVersion = String(++revision);
  const bytes = Buffer.from(JSON.stringify(object));
  await database.put(name, bytes);
  return bytes;
}

function walk(value: unknown): number {
  if (value === null || typeof value !== 'object') return 1;
  let count = 0;
  for (const key in value) count += walk((value as Record<string, unknown>)[key]);
  return count;
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
}
