/** `qd history purge`: deletes history. */
import { CliError } from '../output/cli-error.ts';
import { print } from '../output/print.ts';
import type { PurgeFlags } from './flags.ts';
import { isWanted } from './is-wanted.ts';
import { splitName, withObjects } from './object-api.ts';

interface Asked {
  /** Undefined: all kinds. */
  readonly type: string | undefined;
  readonly name: string | undefined;
}

export async function purge({ type: given, name: named }: Asked, flags: PurgeFlags): Promise<void> {
  if (given === undefined && flags.before === undefined && !flags.all) {
    throw new CliError('say which history to delete: a kind, --before TIME, or --all');
  }
  await withObjects(flags, async (objects) => {
    const query: Record<string, string> = {};
    const what: string[] = [];
    if (given === undefined) what.push('all objects');
    else {
      const { type, name } = splitName({ type: given, name: named });
      const { apiVersion, plural, namespaced, label } = await objects.find(type);
      query.apiVersion = apiVersion;
      query.resource = plural;
      const namespace = namespaced ? (flags.namespace ?? (name === undefined ? undefined : 'default')) : undefined;
      if (namespace !== undefined) query.namespace = namespace;
      if (name !== undefined) query.name = name;
      what.push(name === undefined ? `all ${label} objects` : `${label}/${name}`);
      if (namespace !== undefined) what.push(`in ${namespace}`);
    }
    const before = await objects.momentAt(flags.before);
    if (before !== undefined) query.before = before;
    else if (given === undefined) query.all = 'true';
    print(
      `The history of ${what.join(' ')}${before === undefined ? '' : ` before ${before}`} will be deleted; objects stay as they are.`,
    );
    if (!flags.yes && !(await isWanted())) throw new CliError('nothing was deleted');
    const { changes, bytes } = await objects.purge(query);
    print(`deleted: ${changes} changes, ${bytes} bytes`);
  });
}
