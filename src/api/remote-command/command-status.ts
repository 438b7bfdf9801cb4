/** The exit status of a command, as sent on the error channel in the format of Kubernetes. */
import type { ProcessExit } from '../../base/programs/process-streams.ts';

export interface CommandStatus {
  readonly metadata: Record<string, never>;
  readonly status: 'Success' | 'Failure';
  readonly reason?: string;
  readonly message?: string;
  readonly code?: number;
  readonly details?: { readonly causes: readonly { readonly reason: string; readonly message: string }[] };
}

const SUCCESS: CommandStatus = { metadata: {}, status: 'Success' };

export function exitStatus({ exitCode }: ProcessExit): CommandStatus {
  if (exitCode === 0) return SUCCESS;
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

export function failureStatus(message: string): CommandStatus {
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ reason: '', message }] },
    code: 500,
  };
}

/** Parses the status from the error channel. Throws when the command did not exit by itself. */
export function exitOf(status: string): ProcessExit {
  if (status === '') return { exitCode: 0 };
  let parsed: Partial<CommandStatus>;
  try {
    parsed = JSON.parse(status);
  } catch {
    throw new Error(status);
  }
  if (parsed.status === 'Success') return { exitCode: 0 };
  const cause =
    parsed.reason === 'NonZeroExitCode' && parsed.details?.causes.find(({ reason }) => reason === 'ExitCode');
  const exitCode = cause ? Number(cause.message) : Number.NaN;
  // The cause holds the error itself, without the prefix of the status message.
  if (!Number.isInteger(exitCode)) throw new Error(parsed.details?.causes[0]?.message ?? parsed.message ?? status);
  return { exitCode };
}
