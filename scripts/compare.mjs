/**
 * `npm run bench -- --compare COMMIT [--rounds N]`: measures the present sources and those of COMMIT by turns, each with the bench
 * of its own sources. Further flags go to both benches.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from './setup.mjs';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

/** Prints the comparison, and returns whether no figure became worse. */
export async function compareWith(commit, rounds, flags) {
  const other = checkOut(commit);
  // Installs and builds, and measures nothing.
  for (const folder of [other, root])
    run(process.execPath, ['scripts/bench.mjs', '--only', 'no figure'], { cwd: folder });
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    // The first of a pair may find a colder machine: they change places.
    const order = round % 2 === 0 ? [other, root] : [root, other];
    const figures = new Map(order.map((folder) => [folder, measure(folder, flags)]));
    measured.push({ before: figures.get(other), now: figures.get(root) });
  }
  const { compare, comparisonTable } = await import(join(root, '.cache', 'bench', 'comparison.mjs'));
  const rows = compare(measured);
  console.log(`\n${comparisonTable(commit, rows)}`);
  return rows.every(({ verdict }) => verdict !== 'worse');
}

function measure(folder, flags) {
  const options = { cwd: folder, encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES, stdio: ['ignore', 'pipe', 'inherit'] };
  const { status, stdout } = spawnSync(process.execPath, ['.cache/bench/main.mjs', '--json', ...flags], options);
  if (status !== 0) throw new Error(`the bench in ${folder} ended with ${status}`);
  return JSON.parse(stdout.slice(stdout.indexOf('[')));
}

/** Extracts the files of the commit, or takes those of an earlier comparison. */
function checkOut(commit) {
  const git = (...args) => execFileSync('git', args, { cwd: root, maxBuffer: 8 * MAX_OUTPUT_BYTES });
  const sha = String(git('rev-parse', '--verify', `${commit}^{commit}`)).trim();
  const folder = join(root, '.cache', 'bench', 'commits', sha);
  if (existsSync(folder)) return folder;
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('tar', ['-x', '-C', folder], { input: git('archive', sha) });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return folder;
}
