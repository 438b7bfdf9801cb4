/** Runs a command in the container: it passes when the command exits with 0. */
import { RuntimeError } from '../runtime/errors.ts';
import type { Containers } from '../runtime/runtime.ts';
import { checkCommand } from '../runtime/zero-bytes.ts';
import { failure, type ProbeOutcome, SUCCESS } from './outcome.ts';

/** Limit for the output of the command. */
export const MAX_OUTPUT_BYTES = 10 * 1024;

export async function checkExec(
  runtime: Pick<Containers, 'run'>,
  id: string,
  { command, timeoutMs }: { readonly command: readonly string[]; readonly timeoutMs: number },
): Promise<ProbeOutcome> {
  try {
    checkCommand(command);
    const { exitCode, stdout, stderr } = await runtime.run(id, { command, timeoutMs, maxBytes: MAX_OUTPUT_BYTES });
    if (exitCode === 0) return SUCCESS;
    return failure(Buffer.concat([stdout, stderr]).subarray(0, MAX_OUTPUT_BYTES).toString('utf8'));
  } catch (error) {
    if (!(error instanceof RuntimeError)) throw error;
    if (error.code === 'DeadlineExceeded') return failure(`command ${JSON.stringify(command.join(' '))} timed out`);
    // A command that does not exist cannot pass, however often it is tried.
    if (error.code === 'CannotRun') return failure(error.message);
    return { type: 'error', message: error.message };
  }
}
