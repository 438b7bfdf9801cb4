/**
 * Measures the cost of `managedFields` in creates and merge patches: the built program beside the same program without
 * them (scripts/bench.mjs leaves out `src/server/objects/managed-fields/track.ts`). Both are under the same load by
 * turns.
 */
import { join } from 'node:path';
import { median } from './documents.ts';
import { generate, type Traffic } from './load.ts';
import { cpuOf, type Program, startQd, startUntracked } from './programs.ts';

export interface ManagedFieldsOptions {
  readonly root: string;
  readonly directory: string;
  readonly seconds: number;
  /** Flags of both programs. */
  readonly flags: readonly string[];
  /** Creates the objects that the load needs. */
  readonly seed: (program: Program) => Promise<void>;
  readonly create: Traffic & { readonly type: 'create' };
  readonly patch: Traffic;
}

/** The shares of processor time, in percent. */
export interface ManagedFieldsCost {
  readonly create: number;
  readonly patch: number;
}

const ROUNDS = 5;
const CONNECTIONS = 32;

export async function costOfManagedFields(options: ManagedFieldsOptions): Promise<ManagedFieldsCost> {
  const { root, directory, flags, seed, create, patch } = options;
  const programs: Program[] = [];
  try {
    programs.push(await startQd(root, join(directory, 'tracked'), flags));
    programs.push(await startUntracked(root, join(directory, 'untracked'), flags));
    for (const program of programs) await seed(program);
    const [tracked, untracked] = programs as [Program, Program];
    const share = async (traffic: (round: number) => Traffic) => {
      const shares: number[] = [];
      // In the first round the code is compiled.
      for (let round = 0; round <= ROUNDS; round++) {
        const withThem = await timeOfRequest(tracked, traffic(round), options);
        const without = await timeOfRequest(untracked, traffic(round), options);
        if (round > 0) shares.push((1 - without / withThem) * 100);
      }
      return median(shares);
    };
    return {
      create: await share((round) => ({ ...create, run: `managed-${round}` })),
      patch: await share(() => patch),
    };
  } finally {
    await Promise.all(programs.map((program) => program.stop()));
  }
}

/** Measures processor time of the program, in seconds: rates depend on the other load of the machine. */
async function timeOfRequest(program: Program, traffic: Traffic, { seconds, root }: ManagedFieldsOptions) {
  const before = cpuOf(program.pid);
  const { perSecond, failed } = await generate(program, traffic, { connections: CONNECTIONS, seconds, root });
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return (cpuOf(program.pid) - before) / (perSecond * seconds);
}
