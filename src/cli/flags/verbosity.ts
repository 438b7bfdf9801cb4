/** How much the programs of a federation log. */
import { flag } from '../../base/flag.ts';
import { type Level, levels } from '../output/logger.ts';
import * as value from './values.ts';

/** From this number on, programs of Kubernetes log what helps to debug them. */
const DEBUG_VERBOSITY = 4;

export const verbosityFlags = [
  flag('--log-level <level>', { help: 'least severe messages to log', choices: levels, default: 'info' }),
  flag('--v <number>', {
    help: `the same as a number, as programs of Kubernetes have it: debug from ${DEBUG_VERBOSITY} on`,
    parse: value.count,
    defaultText: 'that of --log-level',
  }),
] as const;

export function logLevelOf({ logLevel, v }: { readonly logLevel: Level; readonly v?: number | undefined }): Level {
  return v !== undefined && v >= DEBUG_VERBOSITY ? 'debug' : logLevel;
}
