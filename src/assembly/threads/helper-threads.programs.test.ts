import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const source = new URL('./helper-threads.ts', import.meta.url).href;
const script = `
  import { readdirSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { lowerHelperPriority } from ${JSON.stringify(source)};
  lowerHelperPriority({ debug: (message, { error }) => console.error(message, error) });
  const others = readdirSync('/proc/self/task').map(Number).filter((thread) => thread !== process.pid);
  console.log(JSON.stringify({ own: getPriority(), others: [...new Set(others.map((thread) => getPriority(thread)))] }));
`;

async function priorities(nice: number): Promise<unknown> {
  const program = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout, stderr } = await promisify(execFile)('nice', ['-n', String(nice), ...program]);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe.skipIf(process.platform !== 'linux')('helper threads of V8', () => {
  it('have a lower priority than the main thread', async () => {
    expect(await priorities(0)).toEqual({ own: 0, others: [10] });
  });

  it('keep their priority when the whole program has a lower one', async () => {
    expect(await priorities(15)).toEqual({ own: 15, others: [15] });
  });
});
