/** Runs the operator's own tests as its README describes. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..', '..');

test('the operator manages its kind, also for the official client', async () => {
  const args = ['--test', '--test-reporter=tap', 'examples/operator/operator.test.js'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  expect(stdout).toContain('# pass 6');
  expect(stdout).toContain('# fail 0');
});
