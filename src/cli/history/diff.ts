/** `qd diff`: what has changed in objects since a time. */
import type { KubeObject } from '../../kinds/kind.ts';
import { CliError } from '../output/cli-error.ts';
import type { DiffFlags } from './flags.ts';
import { type Named, splitName, withObjects } from './object-api.ts';
import { contentOf, diffLines } from './object-diff.ts';

/** Resolves with whether anything has. */
export async function diff(named: Named, flags: DiffFlags): Promise<boolean> {
  const { type, name } = splitName(named);
  return withObjects(flags, async (objects) => {
    const found = await objects.find(type);
    const at = await objects.momentAt(flags.at);
    const selection = { found, namespace: found.namespaced ? flags.namespace : undefined, name };
    const [before, after] = await Promise.all([objects.list({ ...selection, at }), objects.list(selection)]);
    const [then, now] = [byName(before), byName(after)];
    if (name !== undefined && !then.has(name) && !now.has(name)) {
      throw new CliError(`${found.label} ${name} exists neither now nor at ${at}`);
    }
    let isChanged = false;
    for (const each of new Set([...then.keys(), ...now.keys()])) {
      const lines = changes(then.get(each), now.get(each));
      if (lines.length === 0) continue;
      isChanged = true;
      process.stdout.write(`${found.label}/${each}${state(then.get(each), now.get(each))}\n${lines.join('\n')}\n`);
    }
    return isChanged;
  });
}

const byName = (items: readonly KubeObject[]) => new Map(items.map((item) => [item.metadata.name ?? '', item]));

function changes(before: KubeObject | undefined, after: KubeObject | undefined): string[] {
  return diffLines(before && contentOf(before), after && contentOf(after));
}

function state(before: KubeObject | undefined, after: KubeObject | undefined): string {
  if (!before) return ' (created)';
  if (!after) return ' (deleted)';
  return before.metadata.uid === after.metadata.uid ? '' : ' (deleted and created again)';
}
