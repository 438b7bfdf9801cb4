import { spawnSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const MODULE = pathToFileURL(`${import.meta.dirname}/inherited-descriptors.ts`).href;
const tsx = createRequire(import.meta.url).resolve('tsx');

/** Number of the inherited descriptor: Node keeps the first few from the programs that it starts, and no others. */
const DESCRIPTOR = 30;

/** Starts a program that inherits a file, runs `code`, and prints which descriptors still lead to the file. */
function descriptorsAfter(code: string): string {
  const file = openSync(import.meta.filename, 'r');
  const list = `console.log(readdirSync('/proc/self/fd').filter((fd) => {
    try { return readlinkSync('/proc/self/fd/' + fd) === ${JSON.stringify(import.meta.filename)}; } catch { return false; }
  }).join());`;
  const text = `import { readdirSync, readlinkSync } from 'node:fs';
    import { closeInherited } from ${JSON.stringify(MODULE)};
    ${code}
    ${list}`;
  const args = ['--import', pathToFileURL(tsx).href, '--input-type=module', '-e', text];
  const between = Array.from({ length: DESCRIPTOR - 3 }, () => 'ignore' as const);
  const stdio = ['ignore', 'pipe', 'inherit', ...between, file] as const;
  const child = spawnSync(process.execPath, args, { stdio: [...stdio], encoding: 'utf8' });
  closeSync(file);
  expect(child.status).toBe(0);
  return child.stdout.trim();
}

test('a program closes the files that it inherited', () => {
  expect(descriptorsAfter('')).toBe(String(DESCRIPTOR));
  expect(descriptorsAfter('closeInherited();')).toBe('');
});

test('a program keeps what it opened itself, and can start others afterwards', () => {
  const code = `import { openSync } from 'node:fs';
    import { spawnSync } from 'node:child_process';
    const own = openSync(${JSON.stringify(import.meta.filename)}, 'r');
    closeInherited();
    if (spawnSync('true').status !== 0) process.exit(1);`;
  expect(descriptorsAfter(code)).toMatch(/^\d+$/);
});

test('a program that is started without them inherits standard streams only', () => {
  const code = `import { openSync } from 'node:fs';
    import { spawnSync } from 'node:child_process';
    import { withoutInherited } from ${JSON.stringify(MODULE)};
    const nothing = openSync('/dev/null', 'r');
    const list = 'ls -l /proc/self/fd | grep -c ' + ${JSON.stringify('inherited-descriptors.programs.test')};
    const count = (stdio) => spawnSync('sh', ['-c', list], { stdio, encoding: 'utf8' }).stdout.trim();
    const standard = ['ignore', 'pipe', 'inherit'];
    console.log(count(standard), count(withoutInherited(standard, nothing)));`;
  expect(descriptorsAfter(code)).toBe(`1 0\n${DESCRIPTOR}`);
});
