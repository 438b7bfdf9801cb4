import { expect, test } from 'vitest';
import { fullName, parseReference } from './reference.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;

test.each([
  ['busybox', 'docker.io/library/busybox:latest'],
  ['busybox:1.36', 'docker.io/library/busybox:1.36'],
  ['team/app', 'docker.io/team/app:latest'],
  ['docker.io/busybox', 'docker.io/library/busybox:latest'],
  ['index.docker.io/team/app:2', 'docker.io/team/app:2'],
  ['localhost/app', 'localhost/app:latest'],
  ['localhost:5000/app', 'localhost:5000/app:latest'],
  ['registry.k8s.io/pause:3.9', 'registry.k8s.io/pause:3.9'],
  ['[::1]:5000/app:x', '[::1]:5000/app:x'],
  [`busybox@${DIGEST}`, `docker.io/library/busybox@${DIGEST}`],
  [`busybox:1@${DIGEST}`, `docker.io/library/busybox@${DIGEST}`],
])('%s is %s', (text, name) => {
  expect(fullName(parseReference(text))).toBe(name);
});

test('a tag is not mistaken for the port of a registry', () => {
  expect(parseReference('app:5000')).toMatchObject({ repository: 'library/app', tag: '5000' });
});

test.each(['', 'Busybox', 'a//b', 'a:b:c', 'x@sha256:12', 'ab'.repeat(32)])('%j is not a name', (text) => {
  expect(() => parseReference(text)).toThrow(expect.objectContaining({ code: 'InvalidImageName' }));
});
