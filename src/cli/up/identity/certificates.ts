import { join } from 'node:path';
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import type { Say } from '../../output/steps.ts';
import { openPki, type Pki } from '../../pki/pki.ts';
import { shareKeys } from '../../pki/shared-keys.ts';
import { hasRealPods } from '../components/plan-nodes.ts';
import type { StartContext } from '../context.ts';
import { servingNames } from '../listeners/addresses.ts';

/**
 * Reads the keys and certificates of the data directory, and creates what is missing. Servers on a shared store have the
 * same certificate authority and the same key for tokens.
 */
export async function openCertificates(context: StartContext, store: Store): Promise<Pki> {
  const { settings, inputs, machineClock: clock, random } = context;
  const directory = join(context.directory, 'pki');
  if (storeDriver(settings.store).shared) await shareKeys({ ...context, store, directory });
  const names = servingNames(settings, hasRealPods(inputs.nodes));
  return openPki({ directory, names, clock, random });
}

export function describeCertificates({ created }: Pki, say: Say): void {
  say(created.length > 0 ? `created ${created.join(', ')}` : 'unchanged');
}
