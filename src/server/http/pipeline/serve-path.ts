import type { Documents } from '../documents/documents.ts';
import type { Health, HealthPath } from '../documents/health.ts';
import { isPretty } from '../respond/respond.ts';
import type { Routes } from '../route/route.ts';
import type { Admit } from './admit.ts';
import type { ApiRequest } from './api-request.ts';

const TEXT = 'text/plain; charset=utf-8';
const NO_SNIFF = ['X-Content-Type-Options', 'nosniff'];
const NOT_FOUND = Buffer.from('404 page not found\n');

export interface ServeHealthOptions {
  readonly health: Health;
  readonly admit: Admit;
}

/** Answers a health endpoint. */
export function serveHealthStage({ health, admit }: ServeHealthOptions) {
  return async ({ exchange, target, user, lifecycle }: ApiRequest, path: HealthPath): Promise<void> => {
    await admit(lifecycle, { user, verb: exchange.method.toLowerCase(), path: target.path });
    const { code, text } = await health.answer(path, target.search);
    exchange.reply(code, TEXT, Buffer.from(text), NO_SNIFF);
    lifecycle.complete();
  };
}

export interface ServePathOptions {
  readonly routes: Routes;
  readonly documents: Documents;
}

/** Answers a path that is not one of objects: a proxied API, discovery, schemas, metrics and other documents, or 404. */
export function servePathStage({ routes, documents }: ServePathOptions) {
  return async ({ exchange, target, user, lifecycle }: ApiRequest): Promise<void> => {
    const { path, query } = target;
    const proxy = routes.proxyOf(path);
    if (proxy) await proxy(exchange, { user, path, goesOn: () => lifecycle.startStreaming(exchange.code) });
    else {
      const isFound = await documents.serve(exchange, path, isPretty(exchange, query));
      if (!isFound) exchange.reply(404, TEXT, NOT_FOUND, NO_SNIFF);
    }
    lifecycle.complete();
  };
}
