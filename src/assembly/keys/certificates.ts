import { join } from 'node:path';
import type { Store } from '../../store/index.ts';
import { servingNames } from '../addresses.ts';
import type { ApiAddress, Tools } from '../context.ts';
import { openPki, type Pki } from './pki.ts';
import { isRenewalDue, renewAuthorities } from './renew-authorities.ts';
import { changeSharedKeys, shareKeys } from './shared-keys.ts';

export interface CertificateOptions extends Tools {
  /** That of the machine. */
  readonly machineClock: Tools['clock'];
  /** Path of the data directory. */
  readonly directory: string;
  readonly api: ApiAddress;
  readonly store: Store;
  /** True when other servers use the store. */
  readonly isShared: boolean;
}

/**
 * Reads the keys and certificates of the data directory, and creates what is missing. Servers on a shared store have the
 * same certificate authority and the same key for tokens.
 */
export async function openCertificates(options: CertificateOptions): Promise<Pki> {
  const { store, isShared, api, machineClock: clock, random } = options;
  const directory = join(options.directory, 'pki');
  if (isShared) await shareKeys({ ...options, store, directory });
  if (await isRenewalDue({ directory, clock })) {
    const renew = (keys: string) => renewAuthorities({ directory: keys, clock, random });
    if (!isShared) await renew(directory);
    else {
      await changeSharedKeys(store, options.directory, renew);
      await shareKeys({ ...options, store, directory });
    }
  }
  return openPki({ directory, names: servingNames(api), clock, random });
}
