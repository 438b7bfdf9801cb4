import { expect, it } from 'vitest';
import { parseConfig } from './config.ts';

const DIFF = `sha256:${'0'.repeat(64)}`;
const parse = (config: object) =>
  parseConfig(
    'the configuration',
    Buffer.from(JSON.stringify({ config, rootfs: { type: 'layers', diff_ids: [DIFF] } })),
  );

it.each([
  [{ Env: ['A=1', 'B=x\0y'] }, 'env[1]'],
  [{ Cmd: ['\0'] }, 'args[0]'],
  [{ Entrypoint: ['/bin/sh\0'] }, 'entrypoint[0]'],
  [{ WorkingDir: '/\0' }, 'workingDirectory'],
  [{ User: 'root\0' }, 'user'],
  [{ StopSignal: 'SIGTERM\0' }, 'stopSignal'],
  [{ Volumes: { '/data\0': {} } }, 'volumes[0]'],
])('rejects an image with %j', (config, place) => {
  expect(() => parse(config)).toThrow(`the configuration cannot be used: ${place} contains a zero byte`);
});

it('accepts any labels', () => {
  const labels = { a: 'x\0y' };
  expect(parse({ Labels: labels }).config.labels).toEqual(labels);
});
