/** `qd get`: prints objects, now or as they were. */
import { CliError } from '../output/cli-error.ts';
import { print } from '../output/print.ts';
import { table } from '../output/table.ts';
import type { GetFlags } from './flags.ts';
import { type Named, splitName, withObjects } from './object-api.ts';

export async function get(named: Named, flags: GetFlags): Promise<void> {
  const { type, name } = splitName(named);
  await withObjects(flags, async (objects) => {
    const found = await objects.find(type);
    const at = await objects.momentAt(flags.at);
    const namespace = flags.allNamespaces || !found.namespaced ? undefined : flags.namespace;
    const selection = { found, namespace, name, selector: flags.selector, at };
    const when = at === undefined ? '' : ` at ${at}`;
    if (flags.output === 'table') {
      const rows = await objects.table(selection);
      if (rows.length === 1 && name !== undefined) throw new CliError(`${found.label} ${name} does not exist${when}`);
      print(...(rows.length === 1 ? [`No ${found.plural}${when}.`] : table(rows)));
      return;
    }
    const items = await objects.list(selection);
    if (items.length === 0 && name !== undefined) throw new CliError(`${found.label} ${name} does not exist${when}`);
    const shown = name === undefined ? { apiVersion: 'v1', kind: 'List', items } : items[0];
    if (flags.output === 'json') print(JSON.stringify(shown, undefined, 2));
    else print((await import('yaml')).stringify(shown).trimEnd());
  });
}
