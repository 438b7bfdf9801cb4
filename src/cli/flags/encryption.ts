import { flag } from '../../base/flag.ts';
import * as value from './values.ts';

/** Used by every command that reads or changes the keys. */
export const encryptionKeyFileFlag = flag('--encryption-key-file <file>', {
  help: 'file with the keys that Secrets are encrypted with at rest',
  parse: value.file,
  defaultText: 'DIR/encryption.key, created at the first start',
  remembered: true,
});
