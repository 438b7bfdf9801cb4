/** Calls systemctl. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { CliError } from '../../output/cli-error.ts';

/** Users other than root have a manager of their own. */
const MANAGER = process.getuid?.() === 0 ? [] : ['--user'];

/** Resolves with the output. Rejects with a CliError that says what systemctl said. */
export async function systemctl(...args: readonly string[]): Promise<string> {
  const child = spawn('systemctl', [...MANAGER, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      error.code === 'ENOENT'
        ? 'systemctl is not installed: this machine does not run systemd; qd service install --print shows the unit'
        : `systemctl cannot be run: ${error.message}`,
    );
  });
  const [[code], output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code === 0) return output;
  throw new CliError(`systemctl ${args.join(' ')} failed: ${errors.trim() || `exit code ${code}`}`);
}

export interface UnitState {
  /** `active`, `activating`, `inactive`, `failed`… */
  readonly active: string;
  /** `enabled`, `disabled`… */
  readonly enabled: string;
  readonly pid: number | undefined;
}

export async function stateOf(unit: string): Promise<UnitState> {
  const output = await systemctl('show', '--property=ActiveState,UnitFileState,MainPID', unit);
  const values = new Map(output.split('\n').map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)]));
  return {
    active: values.get('ActiveState') || 'unknown',
    enabled: values.get('UnitFileState') || 'unknown',
    pid: Number(values.get('MainPID')) || undefined,
  };
}
