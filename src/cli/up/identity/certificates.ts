import { join } from 'node:path';
import type { Say } from '../../output/steps.ts';
import { openPki, type Pki } from '../../pki/pki.ts';
import type { StartContext } from '../context.ts';
import { servingNames } from '../listeners/addresses.ts';

/** Reads the keys and certificates of the data directory, and creates what is missing. */
export function openCertificates({ settings, directory, clock, random }: StartContext): Promise<Pki> {
  const names = servingNames(settings.bindAddress, settings.serviceClusterIpRange);
  return openPki({ directory: join(directory, 'pki'), names, clock, random });
}

export function describeCertificates({ created }: Pki, say: Say): void {
  say(created.length > 0 ? `created ${created.join(', ')}` : 'unchanged');
}
