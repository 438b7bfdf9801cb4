import { badRequest, notFound } from '../../base/errors.ts';
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../../schema/field-error.ts';
import type { CallOptions, StreamReply } from '../api.ts';
import type { Core } from '../core.ts';
import { invalidObject } from '../objects/check.ts';
import type { ApiRequest } from '../operation.ts';
import { containerNamed } from './pod-containers.ts';
import { named, type Subresource } from './subresource.ts';

/** The log of a container, from the agent of its node. */
export const log: Subresource = {
  name: 'log',
  of: named('log'),
  verbs: { get: read },
};

const STREAMS = ['All', 'Stderr', 'Stdout'];

async function read(core: Core, { resource, call }: ApiRequest): Promise<StreamReply> {
  const { name = '', namespace = '', options = {} } = call;
  const errors = faultsOf(options);
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, name, errors);
  const since = sinceOf(options, core.clock.now());
  await core.cache.fresh();
  const pod = core.cache.table(resource.kind).get(namespace, name)?.hub(resource.kind) as Pod | undefined;
  if (!pod) throw notFound(resource.kind, name);
  const container = containerNamed(pod, options.container);
  const node = pod.spec.nodeName;
  // A pod that is not scheduled has no log yet.
  if (!node) return textReply(EMPTY);
  const { follow = false, previous = false, timestamps = false, tailLines, limitBytes } = options;
  const wanted = { node, namespace, pod: name, container, follow, previous, timestamps, since, tailLines, limitBytes };
  return textReply(await core.nodes.logs({ ...wanted, signal: call.signal }));
}

const EMPTY: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

const textReply = (pieces: AsyncIterable<Uint8Array>): StreamReply => ({
  type: 'stream',
  contentType: 'text/plain',
  pieces,
});

function faultsOf({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: CallOptions): FieldError[] {
  const found: FieldError[] = [];
  const above = (field: string, value: number | undefined, least: number, words: string) => {
    if (value !== undefined && value < least) found.push(invalid(field, value, words));
  };
  above('tailLines', tailLines, 0, 'must be greater than or equal to 0');
  above('limitBytes', limitBytes, 1, 'must be greater than 0');
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    found.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else above('sinceSeconds', sinceSeconds, 1, 'must be greater than 0');
  if (stream !== undefined && !STREAMS.includes(stream)) found.push(notSupported('stream', stream, STREAMS));
  if (stream !== undefined && stream !== 'All' && tailLines !== undefined) {
    found.push(forbidden('[]', '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return found;
}

function sinceOf({ sinceSeconds, sinceTime }: CallOptions, now: number): number | undefined {
  if (sinceSeconds !== undefined) return now - sinceSeconds * 1000;
  if (sinceTime === undefined || sinceTime === '') return undefined;
  const time = Date.parse(sinceTime);
  if (Number.isNaN(time) || !/^\d{4}-\d\d-\d\dT/.test(sinceTime)) {
    throw badRequest(`parsing time ${JSON.stringify(sinceTime)} as "2006-01-02T15:04:05Z07:00": cannot parse`);
  }
  return time;
}
