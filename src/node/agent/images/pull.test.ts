import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { ImagePulls, type PullPolicy } from './pull.ts';
import { PullRecords } from './pull-records.ts';

function node(options: { file?: string; pull?: (image: string, user: string | undefined) => Promise<void> } = {}) {
  const present = new Set<string>();
  const pulls: string[] = [];
  const events: string[] = [];
  const images = {
    isBuiltIn: (image: string) => image === 'host',
    find: async (image: string) => (present.has(image) ? ({ id: `id of ${image}`, bytes: 5 } as never) : undefined),
    pull: async (image: string, credentials: { username: string } | undefined) => {
      pulls.push(`${image} ${credentials?.username ?? '-'}`);
      await options.pull?.(image, credentials?.username);
      present.add(image).add(`id of ${image}`);
      return `id of ${image}`;
    },
  };
  const all = new ImagePulls({ images, clock: new ControlledClock(), records: new PullRecords(options.file) });
  const ensure = (image: string, policy: PullPolicy, users: readonly string[] = []) =>
    all.ensure(
      { image, policy, credentials: async () => users.map((username) => ({ username, password: '' })) },
      ({ reason, message }) => events.push(`${reason}: ${message}`),
    );
  return { ensure, images, present, pulls, events };
}

test('IfNotPresent pulls what is missing, and no more', async () => {
  const { ensure, pulls, events } = node();
  expect(await ensure('a:1', 'IfNotPresent')).toEqual({ type: 'done', imageId: 'id of a:1' });
  expect(await ensure('a:1', 'IfNotPresent')).toEqual({ type: 'done', imageId: 'id of a:1' });
  expect(pulls).toEqual(['a:1 -']);
  expect(events).toEqual([
    'Pulling: Pulling image "a:1"',
    'Pulled: Successfully pulled image "a:1" in 0ms (0ms including waiting). Image size: 5 bytes.',
    'Pulled: Container image "a:1" already present on machine and can be accessed by the pod',
  ]);
});

test('Always pulls each time, Never not at all', async () => {
  const { ensure, pulls, events } = node();
  await ensure('a:1', 'Always');
  await ensure('a:1', 'Always');
  expect(pulls).toHaveLength(2);
  expect(await ensure('a:1', 'Never')).toMatchObject({ type: 'done' });
  expect(await ensure('b:1', 'Never')).toMatchObject({ type: 'failed', reason: 'ErrImageNeverPull' });
  expect(events.slice(-2)).toEqual([
    'ErrImageNeverPull: Container image "b:1" is not present with pull policy of Never',
    'Failed: Error: ErrImageNeverPull',
  ]);
});

test('an image that is a part of the node is never pulled', async () => {
  const { ensure, present, pulls, events } = node();
  present.add('host');
  await ensure('host', 'Always');
  await ensure('host', 'IfNotPresent');
  const already = 'Pulled: Container image "host" already present on machine and can be accessed by the pod';
  expect({ pulls, events }).toEqual({ pulls: [], events: [already, already] });
});

test('pods that need the same image at the same time share one pull', async () => {
  let release = () => {};
  const { ensure, pulls } = node({ pull: () => new Promise((resolve) => (release = resolve)) });
  const both = Promise.all([ensure('a:1', 'IfNotPresent'), ensure('a:1', 'IfNotPresent')]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(pulls).toEqual(['a:1 -']);
  release();
  await both;
  expect(pulls).toEqual(['a:1 -']);
});

test('a failed pull says why, and credentials are tried one after the other', async () => {
  const { ensure, pulls, events } = node({
    pull: async (_, user) => {
      if (user !== 'good') throw new RuntimeError('Unknown', 'no access');
    },
  });
  expect(await ensure('a:1', 'Always')).toEqual({ type: 'failed', reason: 'ErrImagePull', message: 'no access' });
  expect(events).toEqual([
    'Pulling: Pulling image "a:1"',
    'Failed: Failed to pull image "a:1": no access',
    'Failed: Error: ErrImagePull',
  ]);
  expect(await ensure('a:1', 'Always', ['bad', 'good'])).toMatchObject({ type: 'done' });
  expect(pulls).toEqual(['a:1 -', 'a:1 bad', 'a:1 good']);
});

test('a registry that does not answer is named as such', async () => {
  const { ensure } = node({
    pull: async () => {
      throw new RuntimeError('RegistryUnavailable', 'connection refused');
    },
  });
  expect(await ensure('a:1', 'Always')).toEqual({
    type: 'failed',
    reason: 'RegistryUnavailable',
    message: 'image pull failed for a:1 because the registry is unavailable: connection refused',
  });
});

test('an image that cannot be looked at is an error of its own', async () => {
  const { ensure, images, events } = node();
  images.find = async () => {
    throw new RuntimeError('Unknown', 'broken');
  };
  const message = 'Failed to inspect image "a:1": broken';
  expect(await ensure('a:1', 'IfNotPresent')).toEqual({ type: 'failed', reason: 'ImageInspectError', message });
  expect(events).toEqual([`InspectFailed: ${message}`, 'Failed: Error: ImageInspectError']);
});

test('an invalid name is not pulled', async () => {
  const { ensure, pulls } = node();
  expect(await ensure('A:1', 'Always')).toMatchObject({ type: 'failed', reason: 'InvalidImageName' });
  expect(pulls).toEqual([]);
});

describe('an image that was pulled with credentials', () => {
  it('is used by pods that have them, and pulled again by others', async () => {
    const { ensure, pulls } = node();
    await ensure('private/a:1', 'IfNotPresent', ['ann']);
    await ensure('private/a:1', 'IfNotPresent', ['bob', 'ann']);
    expect(pulls).toEqual(['private/a:1 ann']);
    await ensure('private/a:1', 'IfNotPresent', ['bob']);
    await ensure('private/a:1', 'IfNotPresent', ['bob']);
    expect(pulls.slice(1)).toEqual(['private/a:1 bob']);
    expect(await ensure('private/a:1', 'Never')).toMatchObject({ reason: 'ErrImageNeverPull' });
    await ensure('private/a:1', 'IfNotPresent');
    expect(pulls.slice(2)).toEqual(['private/a:1 -']);
    expect(await ensure('private/a:1', 'Never', ['eve'])).toMatchObject({ type: 'done' });
    await ensure('other/b:1', 'IfNotPresent', ['ann']);
    expect(await ensure('other/b:2', 'Never')).toMatchObject({ reason: 'ErrImageNeverPull' });
  });

  it('is still theirs after a restart, also when the pull was interrupted', async () => {
    const directory = temporaryDirectory();
    const file = join(directory, 'pulls.json');
    const first = node({ file });
    await first.ensure('private/a:1', 'IfNotPresent', ['ann']);
    await new PullRecords(file).begin('private/b:1');
    const second = node({ file });
    for (const image of ['private/a:1', 'private/b:1', 'loaded:1']) second.present.add(image);
    expect(await second.ensure('private/a:1', 'Never')).toMatchObject({ reason: 'ErrImageNeverPull' });
    expect(await second.ensure('private/a:1', 'Never', ['ann'])).toMatchObject({ type: 'done' });
    expect(await second.ensure('private/b:1', 'Never', ['ann'])).toMatchObject({ reason: 'ErrImageNeverPull' });
    expect(await second.ensure('loaded:1', 'Never')).toMatchObject({ type: 'done' });
  });
});
