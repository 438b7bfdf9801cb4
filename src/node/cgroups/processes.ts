/** The usage of processes from /proc, where there are no cgroups to ask. */
import { readdirSync, readFileSync } from 'node:fs';
import type { CgroupUsage } from './cgroups.ts';

/** The unit of processor times in /proc, on every architecture that Linux runs on today. */
const NANOSECONDS_PER_TICK = 10_000_000;
const PAGE_BYTES = 4_096;
/**
 * Below this many pages a process is measured page by page. The kernel counts the pages of a process on each processor
 * and adds them up only now and then, so that the sum of a small process may be 0.
 */
const MAX_ROUGH_PAGES = 1_024;

interface SeenProcess {
  readonly parent: number;
  readonly nanoseconds: number;
  readonly pages: number;
}

/** Measures what each process uses together with those that it started. */
export function usageOfTrees(roots: readonly number[]): Map<number, CgroupUsage> {
  const processes = seenProcesses();
  const children = new Map<number, number[]>();
  for (const [pid, { parent }] of processes) children.set(parent, [...(children.get(parent) ?? []), pid]);
  return new Map(
    roots.map((root) => {
      let [nanoseconds, workingSet] = [0, 0];
      const open = [root];
      for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
        const seen = processes.get(pid);
        nanoseconds += seen?.nanoseconds ?? 0;
        workingSet += seen === undefined ? 0 : residentBytes(pid, seen.pages);
        open.push(...(children.get(pid) ?? []));
      }
      return [root, { cpuNanoseconds: nanoseconds, workingSet, rss: workingSet }];
    }),
  );
}

function residentBytes(pid: number, pages: number): number {
  if (pages >= MAX_ROUGH_PAGES) return pages * PAGE_BYTES;
  try {
    const kibibytes = /^Rss:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
    if (kibibytes !== undefined) return Number(kibibytes) * 1_024;
  } catch {
    // It has ended, or belongs to another user.
  }
  return pages * PAGE_BYTES;
}

function seenProcesses(): Map<number, SeenProcess> {
  const found = new Map<number, SeenProcess>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8');
      // After the name in parentheses: state, parent, …; times of the process and of the children it waited for.
      const fields = text
        .slice(text.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const ticks = fields[11]! + fields[12]! + fields[13]! + fields[14]!;
      // Exact, but of the first thread alone.
      const exact = Number(readFileSync(`/proc/${name}/schedstat`, 'utf8').split(' ')[0]);
      const nanoseconds = Math.max(ticks * NANOSECONDS_PER_TICK, exact);
      found.set(Number(name), { parent: fields[1]!, nanoseconds, pages: fields[21]! });
    } catch {
      // It has ended.
    }
  }
  return found;
}
