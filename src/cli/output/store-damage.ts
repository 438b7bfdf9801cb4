/** Advice on a damaged store. */
import { KeyMissing } from '../../store/encryption/envelope.ts';
import { StoreDamaged } from '../../store/store.ts';
import { CliError } from './cli-error.ts';

const TO_RESTORE = 'restore a snapshot with "qd snapshot restore FILE --force"';
export const TO_DELETE = `stop the cluster, and ${TO_RESTORE} or delete what is damaged with "qd snapshot check --delete-damaged"`;

/** Throws how to go on after damage, which may be the cause of the error; any other error as it is. */
export function explainDamage(error: unknown): never {
  const damage = error instanceof StoreDamaged ? error : (error as Error).cause;
  if (!(damage instanceof StoreDamaged) || damage instanceof KeyMissing) throw error;
  throw new CliError(`${damage.message}; ${damage.key === undefined ? TO_RESTORE : TO_DELETE}`, { cause: error });
}
