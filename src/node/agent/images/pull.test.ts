import { expect, test } from 'vitest';
import { ControlledClock } from '../../../base/clock.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { ImagePulls, type PullPolicy } from './pull.ts';

function node(options: { pull?: (image: string, user: string | undefined) => Promise<void> } = {}) {
  const present = new Set<string>();
  const pulls: string[] = [];
  const events: string[] = [];
  const images = {
    find: async (image: string) => (present.has(image) ? ({ id: `id of ${image}`, bytes: 5 } as never) : undefined),
    pull: async (image: string, credentials: { username: string } | undefined) => {
      pulls.push(`${image} ${credentials?.username ?? '-'}`);
      await options.pull?.(image, credentials?.username);
      present.add(image).add(`id of ${image}`);
      return `id of ${image}`;
    },
  };
  const all = new ImagePulls({ images, clock: new ControlledClock() });
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
