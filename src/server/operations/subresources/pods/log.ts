import { badRequest } from '../../../../api/errors.ts';
import type { ParameterValues, QueryParameters } from '../../../../api/parameters.ts';
import type { StreamReply } from '../../../../api/reply.ts';
import { type FieldError, forbidden, invalid, notSupported } from '../../../../schema/field-error.ts';
import { invalidObject } from '../../../objects/body/check.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { Subresource } from '../subresource.ts';
import { type CommandPorts, containerNamed } from './command.ts';
import { podFor } from './pod-stream.ts';

const PARAMETERS = {
  container: { type: 'string', description: 'Container to read the log of. Optional if the pod has only one.' },
  follow: { type: 'boolean', description: 'Whether the response continues with new lines until the container ends.' },
  limitBytes: {
    type: 'integer',
    description: 'Maximum number of bytes in the response. The last line may be cut off.',
  },
  previous: { type: 'boolean', description: 'Whether to read the log of the previous instance of the container.' },
  sinceSeconds: {
    type: 'integer',
    description:
      'Maximum age of the lines in seconds. A negative one is a time in the future: there are no lines yet. Cannot be ' +
      'combined with sinceTime.',
  },
  sinceTime: {
    type: 'string',
    description: 'RFC 3339 time of the first lines. Cannot be combined with sinceSeconds.',
    isPublished: false,
  },
  stream: { type: 'string', description: 'Stream to read: All (default), Stdout or Stderr.' },
  tailLines: { type: 'integer', description: 'Number of lines from the end of the log. Default: all.' },
  timestamps: { type: 'boolean', description: 'Whether each line starts with its RFC 3339 timestamp.' },
} as const satisfies QueryParameters;

type LogOptions = ParameterValues<typeof PARAMETERS>;

/** Streams the output of a container, as the agent of its node reads it. */
export const log: Subresource<'log'> = {
  name: 'log',
  operations: { get: read },
  content: { type: 'text' },
  parameters: PARAMETERS,
};

const ONE_STREAM = ['Stderr', 'Stdout'] as const;
const STREAMS: readonly string[] = ['All', ...ONE_STREAM];

async function read(core: CommandPorts, request: ApiRequest): Promise<StreamReply> {
  const { call } = request;
  const { name = '', namespace = '' } = call;
  const options: LogOptions = call.parameters ?? {};
  const errors = validate(options);
  if (errors.length > 0) throw invalidObject({ group: '', kind: 'PodLogOptions' }, name, errors);
  const since = sinceOf(options, core.clock.now());
  const pod = await podFor(core, request);
  const container = containerNamed(pod, options.container);
  const node = pod.spec.nodeName;
  // A pod without a node has no output yet.
  if (!node) return textReply(NO_OUTPUT);
  const { follow = false, previous = false, timestamps = false, tailLines, limitBytes } = options;
  const stream = ONE_STREAM.find((name) => name === options.stream);
  const selection = { follow, previous, timestamps, since, tailLines, limitBytes, stream };
  const lines = { node, namespace, pod: name, container, ...selection };
  return textReply(await core.nodes.logs({ ...lines, signal: call.signal }));
}

const NO_OUTPUT: AsyncIterable<Uint8Array> = {
  async *[Symbol.asyncIterator]() {},
};

const textReply = (pieces: AsyncIterable<Uint8Array>): StreamReply => ({
  type: 'stream',
  contentType: 'text/plain',
  pieces,
});

function validate({ tailLines, limitBytes, sinceSeconds, sinceTime, stream }: LogOptions): FieldError[] {
  const errors: FieldError[] = [];
  const atLeast = (minimum: number, field: string, value: number | undefined) => {
    if (value === undefined || value >= minimum) return;
    errors.push(invalid(field, value, minimum ? 'must be greater than 0' : 'must be greater than or equal to 0'));
  };
  atLeast(0, 'tailLines', tailLines);
  atLeast(1, 'limitBytes', limitBytes);
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  } else if (sinceSeconds === 0) atLeast(1, 'sinceSeconds', sinceSeconds);
  if (stream !== undefined && !STREAMS.includes(stream)) errors.push(notSupported('stream', stream, STREAMS));
  if (stream !== undefined && stream !== 'All' && tailLines !== undefined) {
    errors.push(forbidden('[]', '`tailLines` and specific `stream` are mutually exclusive for now'));
  }
  return errors;
}

/** Returns the time from which lines are returned, in milliseconds since the epoch. */
function sinceOf({ sinceSeconds, sinceTime }: LogOptions, now: number): number | undefined {
  if (sinceSeconds !== undefined) return now - sinceSeconds * 1000;
  if (sinceTime === undefined || sinceTime === '') return undefined;
  const time = Date.parse(sinceTime);
  if (Number.isNaN(time) || !/^\d{4}-\d\d-\d\dT/.test(sinceTime)) {
    throw badRequest(`parsing time ${JSON.stringify(sinceTime)} as "2006-01-02T15:04:05Z07:00": cannot parse`);
  }
  return time;
}
