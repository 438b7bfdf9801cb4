import { flag } from '../../base/flag.ts';
import * as value from './values.ts';

/** A flag of both servers and agents. */
export const remoteUpgradesFlag = flag('--remote-upgrades [bool]', {
  help: 'administrators of the cluster may replace the program of this machine with another release (qd upgrade --all)',
  parse: value.boolean,
  default: true,
  defaultText: 'on',
  remembered: true,
});
