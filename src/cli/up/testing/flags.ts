import { flag, type ValuesOf } from '../../../base/flag.ts';
import * as value from '../../flags/values.ts';

export const testingFlags = [
  flag('--clock <clock>', {
    help: 'manual: time stands still until qd clock advance moves it; for simulated nodes',
    choices: ['system', 'manual'],
    default: 'system',
  }),
  flag('--faults', { help: 'serve faults, by which requests can be disturbed (qd fault)' }),
  flag('--restore <file>', {
    help: 'objects to start with, from a snapshot of a test cluster; the store must be empty',
    parse: value.file,
  }),
] as const;

export type TestingFlags = ValuesOf<typeof testingFlags>;
