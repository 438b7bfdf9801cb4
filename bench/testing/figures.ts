/** Clusters inside a test, with the built package. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Figure } from '../report.ts';

interface TestingFigures {
  readonly root: string;
  readonly wanted: (name: string) => boolean;
  readonly record: (figure: Figure) => void;
}

/** Figures, best of several, except for the first cluster, the week and the idle processor: they happen once. */
const FIGURES = [
  { key: 'firstMs', name: 'test cluster, import and first answer', unit: 'ms', promise: 150 },
  { key: 'nextMs', name: 'test cluster, the next one', unit: 'ms', promise: 20 },
  { key: 'megabytes', name: 'test cluster, memory', unit: 'MB', promise: 5 },
  { key: 'together', name: 'test clusters at once', unit: '' },
  { key: 'idlePercent', name: 'test clusters, processor of 100 at idle', unit: '%', promise: 0.5 },
  { key: 'settledMs', name: 'test cluster, 100 pods settled', unit: 'ms', promise: 100 },
  { key: 'snapshotMs', name: 'test cluster, snapshot of 1,000 objects', unit: 'ms', promise: 5 },
  { key: 'forkMs', name: 'test cluster, fork with 1,000 objects', unit: 'ms', promise: 20 },
  { key: 'weekMs', name: 'test cluster, a week of 50 CronJobs', unit: 'ms', promise: 5_000 },
  {
    key: 'coldPercent',
    name: 'test cluster, creates in the first 3 s of a process, of the warm rate',
    unit: '%',
    promise: 60,
    moreIsBetter: true,
  },
] as const satisfies readonly (Omit<Figure, 'qd'> & { readonly key: string })[];

export async function measureTesting({ root, wanted, record }: TestingFigures): Promise<void> {
  const chosen = FIGURES.filter(({ name }) => wanted(name));
  if (chosen.length === 0) return;
  const isWarmth = ({ key }: (typeof FIGURES)[number]) => key === 'coldPercent';
  const measured: Record<string, number> = {};
  const measure = async (program: string) => {
    const args = [join(root, 'bench', 'testing', program), join(root, 'dist', 'testing.js')];
    Object.assign(measured, JSON.parse((await promisify(execFile)(process.execPath, args)).stdout));
  };
  if (chosen.some(isWarmth)) await measure('creates.mjs');
  if (!chosen.every(isWarmth)) await measure('clusters.mjs');
  for (const { key, ...figure } of chosen) record({ ...figure, qd: measured[key]! });
}
