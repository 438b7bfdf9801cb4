import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../test/support/temporary-directory.ts';
import type { Container, Sandbox } from '../runtime/runtime.ts';
import { type ContainerLogRequest, containerLog } from './container-log.ts';

let folder: string;
let containers: Container[];
let notify: () => void;
let followed: () => void = () => undefined;
let isFollowed: Promise<void>;
beforeEach(async () => {
  folder = temporaryDirectory();
  containers = [];
  notify = () => undefined;
  isFollowed = new Promise((resolve) => {
    followed = resolve;
  });
});
const runtime = {
  sandboxes: async () => [{ id: 's', pod: { namespace: 'default', name: 'web', uid: '1' } } as Sandbox],
  containers: async () => containers,
  container: async (id: string) => containers.find((each) => each.id === id),
  onChange(listener: (sandboxId: string | undefined) => void) {
    notify = () => listener('s');
    followed();
    return () => undefined;
  },
};

const entry = (text: string) => `2030-01-01T00:00:00Z stdout F ${text}\n`;

async function instance(attempt: number, state: Container['state']): Promise<string> {
  const logPath = join(folder, `${attempt}.log`);
  await writeFile(logPath, entry(`attempt ${attempt}`));
  containers.unshift({
    id: `c${attempt}`,
    sandboxId: 's',
    name: 'c',
    attempt,
    state,
    createdAt: attempt,
    logPath,
  } as Container);
  return logPath;
}

async function read(asked: Partial<ContainerLogRequest>): Promise<string> {
  const request: ContainerLogRequest = {
    ...{ namespace: 'default', pod: 'web', container: 'c', previous: false, follow: false, timestamps: false },
    ...{ since: undefined, tailLines: undefined, limitBytes: undefined, stream: undefined, signal: undefined },
    ...asked,
  };
  let text = '';
  for await (const part of await containerLog(runtime, request)) text += part;
  return text;
}

it('reads the newest instance, or the one before', async () => {
  await instance(0, 'exited');
  await instance(1, 'exited');
  await instance(2, 'running');
  expect(await read({})).toBe('attempt 2\n');
  expect(await read({ previous: true })).toBe('attempt 1\n');
});

it('takes the last one that ran for the previous one while its successor waits', async () => {
  await instance(0, 'exited');
  await instance(1, 'created');
  expect(await read({})).toBe('attempt 0\n');
  expect(await read({ previous: true })).toBe('attempt 0\n');
});

it('says what is missing', async () => {
  await expect(read({})).rejects.toMatchObject({
    reason: 'BadRequest',
    message: 'container "c" in pod "web" is waiting to start: ContainerCreating',
  });
  await instance(0, 'running');
  await expect(read({ previous: true })).rejects.toThrow('previous terminated container "c" in pod "web" not found');
});

it('follows a container until it has ended', async () => {
  const path = await instance(0, 'running');
  const reading = read({ follow: true });
  await appendFile(path, entry('more'));
  await isFollowed;
  containers = [{ ...containers[0]!, state: 'exited' }];
  notify();
  expect(await reading).toBe('attempt 0\nmore\n');
});
