import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const source = new URL('./helper-threads.ts', import.meta.url).href;
const script = `
  import { readdirSync } from 'node:fs';
  import { getPriority } from 'node:os';
  import { helpersComeLast } from ${JSON.stringify(source)};
  helpersComeLast({ debug: (message, { error }) => console.error(message, error) });
  const others = readdirSync('/proc/self/task').map(Number).filter((thread) => thread !== process.pid);
  console.log(JSON.stringify({ own: getPriority(), others: [...new Set(others.map((thread) => getPriority(thread)))] }));
`;

async function priorities(nice: number): Promise<unknown> {
  const program = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', script];
  const { stdout, stderr } = await promisify(execFile)('nice', ['-n', String(nice), ...program]);
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe.skipIf(process.platform !== 'linux')('threads of V8', () => {
  it('come behind the one that works', async () => {
    expect(await priorities(0)).toEqual({ own: 0, others: [10] });
  });

  it('are not raised where the whole program was sent to the back', async () => {
    expect(await priorities(15)).toEqual({ own: 15, others: [15] });
  });
});
