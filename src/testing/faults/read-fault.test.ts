import { expect, it } from 'vitest';
import type { Fault } from '../contract.ts';
import { readFault } from './read-fault.ts';

it('reads durations as milliseconds', () => {
  expect(readFault({ verbs: ['get'], error: 503, rate: 0.5, latency: '2s', dropWatches: 5, times: 2 })).toMatchObject({
    ...{ verbs: ['get'], error: 503, rate: 0.5, latencyMs: 2_000, dropWatchesAfterMs: 5, times: 2 },
  });
});

it.each([
  ['a code that no fault has', { error: 404 }, 'error: Unsupported value: "404": supported values: "409", "429"'],
  ['a field that does not exist', { verb: ['get'], error: 500 }, 'unknown field "verb"; did you mean "verbs"?'],
  ['a field of the API', { latencyMilliseconds: 5 }, 'unknown field "latencyMilliseconds"'],
  ['a verb that does not exist', { verbs: ['gets'], error: 500 }, 'verbs[0]: Unsupported value: "gets"'],
  ['a rate above 1', { error: 500, rate: 7 }, 'rate: Invalid value: 7'],
  ['a text for a list', { error: 500, users: 'eve' }, 'json: cannot unmarshal string'],
  ['a text that is no duration', { latency: 'x' }, 'x is not a duration'],
  ['no number of times', { error: 500, times: 0 }, 'times: Invalid value: 0'],
  ['no time', { latency: 0 }, 'latency: Invalid value: 0'],
  ['nothing that would happen', { verbs: ['get'] }, 'one of error, latency, dropWatches or staleWatches is required'],
  ['nothing at all', undefined, 'is required'],
])('rejects %s', (_, fault, message) => {
  const read = () => readFault(fault as unknown as Fault);
  expect(read).toThrow(TypeError);
  expect(read).toThrow(message);
});
