/**
 * Objects of an aggregated API server, in memory: the verbs that controllers use, as the libraries for such servers
 * offer them.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AggregatedServer, RESOURCES } from './aggregated-server.ts';

interface StoredObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly object[];
  };
  readonly [field: string]: unknown;
}

type Metadata = Partial<Omit<StoredObject['metadata'], 'resourceVersion'>> & { readonly name: string };

const ROOT = '/apis/gauges.example.com/v1';
const TYPE = { apiVersion: 'gauges.example.com/v1', kind: 'Gauge' };
const ALL_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export class AggregatedObjects {
  /** The verbs that discovery lists. */
  verbs = ALL_VERBS;
  readonly #server: AggregatedServer;
  readonly #objects = new Map<string, StoredObject>();
  readonly #watches = new Set<ServerResponse>();
  /** The events of all watches. */
  readonly #history: { readonly version: number; readonly line: string }[] = [];
  #version = 100;

  constructor(server: AggregatedServer) {
    this.#server = server;
    server.on('', this.answer);
  }

  names(): readonly string[] {
    return [...this.#objects.values()].map(({ metadata }) => metadata.name);
  }

  get(name: string, namespace = 'default'): StoredObject | undefined {
    return this.#objects.get(`${namespace}/${name}`);
  }

  put(metadata: Metadata): StoredObject {
    const { namespace = 'default', name } = metadata;
    const before = this.get(name, namespace);
    const uid = before?.metadata.uid ?? `uid-of-${namespace}-${name}`;
    const resourceVersion = String(++this.#version);
    const object = { ...TYPE, metadata: { uid, ...before?.metadata, ...metadata, namespace, resourceVersion } };
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp && finalizers.length === 0) {
      this.#objects.delete(`${namespace}/${name}`);
      this.#send('DELETED', object);
      return object;
    }
    this.#objects.set(`${namespace}/${name}`, object);
    this.#send(before ? 'MODIFIED' : 'ADDED', object);
    return object;
  }

  #send(type: string, object: StoredObject): void {
    const line = `${JSON.stringify({ type, object })}\n`;
    this.#history.push({ version: this.#version, line });
    for (const watch of this.#watches) watch.write(line);
  }

  readonly answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(request.url!, 'http://localhost');
    const reply = (code: number, body: unknown) =>
      response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === ROOT) {
      const [gauges, ...rest] = RESOURCES.resources;
      reply(200, { ...RESOURCES, resources: [{ ...gauges, verbs: this.verbs }, ...rest] });
      return;
    }
    const match = /^\/apis\/gauges.example.com\/v1(?:\/namespaces\/([^/]+))?\/gauges(?:\/([^/]+))?$/.exec(pathname);
    if (!match) {
      response.writeHead(404).end('404 page not found');
      return;
    }
    const [, namespace, name] = match;
    const chosen = [...this.#objects.values()].filter(
      ({ metadata }) => (!namespace || metadata.namespace === namespace) && (!name || metadata.name === name),
    );
    if (name && chosen.length === 0) {
      const details = { name, group: 'gauges.example.com', kind: 'gauges' };
      const message = `gauges.gauges.example.com "${name}" not found`;
      reply(404, {
        ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 404 },
        ...{ message, reason: 'NotFound', details },
      });
      return;
    }
    const sent = this.#server.seen.at(-1)?.body || '{}';
    switch (request.method) {
      case 'GET':
        if (searchParams.get('watch') === 'true') this.#watch(response, Number(searchParams.get('resourceVersion')));
        else if (name) reply(200, chosen[0]);
        else
          reply(200, {
            kind: 'GaugeList',
            apiVersion: TYPE.apiVersion,
            metadata: { resourceVersion: String(this.#version) },
            items: chosen,
          });
        return;
      case 'DELETE': {
        const options = { ...Object.fromEntries(searchParams), ...JSON.parse(sent) };
        for (const each of chosen) this.#delete(each, options.propagationPolicy);
        reply(200, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success' });
        return;
      }
      case 'PATCH': {
        const { resourceVersion: _, ...changes } = JSON.parse(sent).metadata;
        const given = Object.entries(changes).map(([key, value]) => [key, value ?? undefined]);
        reply(200, this.put({ ...chosen[0]!.metadata, ...Object.fromEntries(given) }));
        return;
      }
      default:
        response.writeHead(405).end();
    }
  };

  #delete({ metadata }: StoredObject, policy: string | undefined): void {
    const held = (metadata.finalizers ?? []).filter((each) => each !== 'foregroundDeletion');
    const finalizers = policy === 'Foreground' ? [...held, 'foregroundDeletion'] : held;
    this.put({ ...metadata, finalizers, deletionTimestamp: '2030-01-01T00:00:00Z' });
  }

  #watch(response: ServerResponse, since: number): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const { version, line } of this.#history) if (version > since) response.write(line);
    this.#watches.add(response);
    response.on('close', () => this.#watches.delete(response));
  }
}
