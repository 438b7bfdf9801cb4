import { methodNotAllowed } from '../../../../api/errors.ts';
import type { ServedAction, ServedTree } from '../../../../api/served-action.ts';
import type { Attributes } from '../../../access/authz/authorizer.ts';
import type { ServeProxied } from '../../backend.ts';
import type { Documents } from '../documents/documents.ts';
import type { Health, HealthPath } from '../documents/health.ts';
import { isPretty } from '../respond/respond.ts';
import type { Routes } from '../route/route.ts';
import type { Admit } from './admit.ts';
import type { ApiRequest } from './find-route.ts';
import type { OpenStreams } from './open-streams.ts';

const TEXT = 'text/plain; charset=utf-8';
const NO_SNIFF = ['X-Content-Type-Options', 'nosniff'];
const NOT_FOUND = Buffer.from('404 page not found\n');

export interface ServeHealthOptions {
  readonly health: Health;
  readonly admit: Admit;
}

export function serveHealthStage({ health, admit }: ServeHealthOptions) {
  return async ({ exchange, target, user, lifecycle }: ApiRequest, path: HealthPath): Promise<void> => {
    await admit(lifecycle, { user, verb: exchange.method.toLowerCase(), path: target.path });
    const { code, text } = await health.answer(path, target.search);
    exchange.reply(code, TEXT, Buffer.from(text), NO_SNIFF);
    lifecycle.complete();
  };
}

export interface ServePathOptions {
  readonly streams: OpenStreams;
  readonly routes: Routes;
  readonly documents: Documents;
  readonly actions: readonly ServedAction[];
  readonly trees: readonly ServedTree[];
}

/** Serves a path that is not one of objects: a proxied API, discovery, schemas, metrics, or a 404. */
export function servePathStage({ streams, routes, documents, actions, trees }: ServePathOptions) {
  return async ({ exchange, target, user, lifecycle }: ApiRequest): Promise<void> => {
    const { path, query } = target;
    const proxy = routes.proxyOf(path);
    const action = actions.find((each) => each.path === path);
    const tree = trees.find(({ root }) => path === root || path.startsWith(`${root}/`));
    if (action) {
      if (exchange.method !== 'POST') throw methodNotAllowed();
      exchange.reply(200, 'application/json', Buffer.from(JSON.stringify(await action.perform(user))), NO_SNIFF);
    } else if (tree) await serveTree(tree, { exchange, target, user, lifecycle });
    else if (proxy) await serveProxied(proxy, { exchange, target, user, lifecycle });
    else {
      const isFound = await documents.serve(exchange, path, isPretty(exchange, query));
      if (!isFound) exchange.reply(404, TEXT, NOT_FOUND, NO_SNIFF);
    }
    lifecycle.complete();
  };

  /** Releases the seat while the body arrives. */
  async function serveTree(tree: ServedTree, { exchange, target, user, lifecycle }: ApiRequest): Promise<void> {
    const answer = await tree.answer({
      user,
      method: exchange.method,
      path: target.path,
      query: new URLSearchParams(target.search),
      userAgent: exchange.headers['user-agent'],
      requestId: lifecycle.requestId,
      signal: exchange.signal,
      body: () => lifecycle.releaseSeatWhile(exchange.body()),
    });
    exchange.reply(200, 'application/json', Buffer.from(JSON.stringify(answer)), NO_SNIFF);
  }

  /** Releases the seat while another server responds, which may be slow. */
  async function serveProxied(proxy: ServeProxied, { exchange, target, user, lifecycle }: ApiRequest): Promise<void> {
    const connection = { end: () => exchange.abort() };
    const goesOn = () => {
      lifecycle.startStreaming(exchange.code);
      streams.add(connection);
    };
    const request = { user, path: target.path, isLongRunning: isLongRunning(lifecycle.attributes), goesOn };
    try {
      await lifecycle.releaseSeatWhile(proxy(exchange, request));
    } finally {
      streams.delete(connection);
    }
  }
}

/** Subresources whose responses last as long as the client wants. */
const STREAMED: ReadonlySet<string> = new Set(['attach', 'exec', 'log', 'portforward', 'proxy']);

function isLongRunning(attributes: Attributes): boolean {
  if (!('resource' in attributes)) return false;
  return attributes.verb === 'watch' || STREAMED.has(attributes.subresource ?? '');
}
