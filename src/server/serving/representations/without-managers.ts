/**
 * Removes `managedFields` for clients that would show them unasked. kubectl hides the field since 1.21; older releases
 * print it with every object, and `kubectl diff` as a change.
 */
import type { ListedItem, ListReply, Reply, WatchEvent, WatchReply } from '../../../api/reply.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { plainItem } from '../../objects/body/body.ts';
import { type MaybeAsync, whenReady } from '../../objects/conversion/convert.ts';
import { batchOf } from '../../objects/reads/watch-channel.ts';

const OLD_KUBECTL = /^kubectl[^/]*\/v1\.(\d|1\d|20)\./;

export function showsManagers(userAgent: string | undefined): boolean {
  return OLD_KUBECTL.test(userAgent ?? '');
}

/** Returns the reply with objects without `managedFields`. Returns a promise when a long list is decoded first. */
export function withoutManagers(reply: Reply): Reply | Promise<Reply> {
  switch (reply.type) {
    case 'object':
      return { type: 'object', item: plainItem(trimmed(reply.item.object)) };
    case 'list':
      return trimmedList(reply);
    case 'watch':
      return trimmedWatch(reply);
    default:
      return reply;
  }
}

function trimmed<T extends KubeObject>(object: T): T {
  return object.metadata?.managedFields
    ? { ...object, metadata: { ...object.metadata, managedFields: undefined } }
    : object;
}

function trimmedList(list: ListReply): MaybeAsync<ListReply> {
  const { kind, apiVersion, metadata } = list;
  const items: ListedItem[] = [];
  const texts: string[] = [];
  const head = JSON.stringify({ kind, apiVersion, metadata }).slice(0, -1);
  const json = () => Buffer.from(`${head},"items":[${texts.join(',')}]}`);
  const reading = list.readInTurns(list.items, ({ object, size }) => {
    const { kind: _, apiVersion: __, ...shown } = trimmed(object);
    items.push({ ...plainItem(trimmed(object)), size });
    texts.push(JSON.stringify(shown));
  });
  return whenReady(reading, () => ({ ...list, items, encode: () => undefined, json, gzip: undefined }));
}

function trimmedWatch(watch: WatchReply): WatchReply {
  return {
    type: 'watch',
    attach: (consumer) =>
      watch.attach({
        events: (batch) => consumer.events(batchOf(batch.events.map(trimmedEvent))),
        backlog: () => consumer.backlog(),
        onProgress: consumer.onProgress && ((listener) => consumer.onProgress?.(listener)),
        end: () => consumer.end(),
      }),
    stop: () => watch.stop(),
  };
}

function trimmedEvent(event: WatchEvent): WatchEvent {
  const { type } = event;
  if (type === 'ERROR' || type === 'BOOKMARK') return event;
  const object = trimmed(event.object as KubeObject);
  return { type, object, json: () => Buffer.from(`${JSON.stringify({ type, object })}\n`) };
}
