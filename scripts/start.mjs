/** `npm start`: installs what is missing, builds, and runs `qd up` with the given flags. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { ensureOciRuntime } from './oci-runtime.mjs';
import { ensurePackages, root } from './setup.mjs';

ensurePackages();
const installing = ensureOciRuntime();
await build();
await installing;
const allocator = JSON.parse(readFileSync(join(root, 'src', 'cli', 'process', 'allocator.json'), 'utf8'));
const child = spawn(process.execPath, [join(root, 'dist', 'qd.js'), 'up', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...allocator, ...process.env },
});
// A terminal sends signals to the whole process group; those sent only to this process are forwarded.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
