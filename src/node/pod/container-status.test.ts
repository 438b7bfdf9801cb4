import { expect, test } from 'vitest';
import type { ContainerRun, Role } from './container-run.ts';
import { containerStatus } from './pod-status.ts';

const running = (role: Role, ready: boolean) => {
  const run: ContainerRun = {
    ...{ name: 'c', role, image: 'i', imageID: 'i@sha256:0', last: undefined, restarts: 0, ready },
    state: { type: 'running', since: 0, id: 'x://1' },
  };
  const { ready: isReady, started } = containerStatus(run, { name: 'c' } as never, 4096) as Record<string, unknown>;
  return { ready: isReady, started };
};

test('a running container has started, and is ready when its probe passes', () => {
  expect(running('main', false)).toEqual({ ready: false, started: true });
  expect(running('main', true)).toEqual({ ready: true, started: true });
  expect(running('sidecar', true)).toEqual({ ready: true, started: true });
});

test('a running init container is neither', () => {
  expect(running('init', true)).toEqual({ ready: false, started: false });
});

test('an ephemeral container has no started field', () => {
  expect(running('ephemeral', true)).toEqual({ ready: false, started: undefined });
});
