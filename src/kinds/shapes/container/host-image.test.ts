import { expect, it } from 'vitest';
import { HOST_IMAGE_ID, isHostImage } from './host-image.ts';

const DIGEST = `sha256:${'ab'.repeat(32)}`;

it.each([
  ...['host', 'host:latest', 'host:1.0', `host@${DIGEST}`, `host:1@${DIGEST}`, 'host:'],
  ...['quarterdeck.local/host', 'quarterdeck.local/host:1', `quarterdeck.local/host@${DIGEST}`],
  HOST_IMAGE_ID,
])('%s means the files of the node', (image) => {
  expect(isHostImage(image)).toBe(true);
});

it.each([
  ...[
    '',
    'hosts',
    'host/x',
    'x/host',
    'docker.io/library/host',
    'localhost/host',
    'localhost:5000/host',
    'host:5000/x',
  ],
  ...['quarterdeck.local/hosts', 'quarterdeck.local:80/host', 'x@host', DIGEST],
])('%s is an ordinary image', (image) => {
  expect(isHostImage(image)).toBe(false);
});
