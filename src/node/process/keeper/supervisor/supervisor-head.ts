import { programText } from '../../../../base/programs/program-text.ts';

/** The beginning of the program of every supervisor. */
export const SUPERVISOR_HEAD = programText(new URL('./supervisor-head.sh', import.meta.url));
