/** Set up before each fast test file: one that starts a program fails, and learns which name it should have. */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

const STARTERS = ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork'];

function reject(program: unknown): never {
  throw new Error(`expected a test without programs, but it starts ${program}: name its file x.programs.test.ts`);
}

Object.assign(childProcess, Object.fromEntries(STARTERS.map((name) => [name, reject])));
syncBuiltinESMExports();
