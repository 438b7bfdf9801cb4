/** Calls an OCI runtime: runc, or crun with the same arguments. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { RuntimeError } from '../../../runtime/errors.ts';

const MAX_LOG_BYTES = 64 * 1024;

export class OciRuntime {
  readonly name: string;
  /** The flag with which `run` leaves what is known of a container that has ended. */
  readonly keep: string;

  /** `state`: the directory in which it remembers containers, on this boot. */
  constructor(
    readonly program: string,
    readonly state: string,
  ) {
    this.name = basename(program);
    this.keep = this.name === 'runc' ? '--keep' : '';
  }

  /** The arguments that every call begins with. Failures are written to `log`. */
  options(log: string): string[] {
    return ['--root', this.state, '--log', log, '--log-format', 'json'];
  }

  /**
   * Runs a container in the background, with one descriptor that it inherits as number 3. Resolves when its process runs; rejects with
   * a RuntimeError that says why it does not.
   */
  async runDetached(
    id: string,
    bundle: string,
    files: { pid: string; log: string },
    descriptor: number,
  ): Promise<void> {
    const args = ['run', '--detach', '--preserve-fds', '1', '--bundle', bundle, '--pid-file', files.pid, id];
    const code = await this.#call([...this.options(files.log), ...args], descriptor);
    if (code !== 0) throw new RuntimeError('Unknown', failureIn(files.log) ?? `${this.name} ended with code ${code}`);
  }

  /** The containers that it remembers. */
  containers(): readonly string[] {
    return existsSync(this.state) ? readdirSync(this.state) : [];
  }

  /** Kills a container and forgets it; nothing happens if there is none. */
  async remove(id: string): Promise<void> {
    if (!existsSync(`${this.state}/${id}`)) return;
    await this.#call([...this.options('/dev/null'), 'delete', '--force', id]);
  }

  async #call(args: readonly string[], descriptor?: number): Promise<number> {
    const further = descriptor === undefined ? [] : [descriptor];
    const child = spawn(this.program, args, { stdio: ['ignore', 'ignore', 'ignore', ...further], env: {} });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  }
}

/** Returns the last error in the log of the runtime; undefined if there is none. The log is read to a limit. */
export function failureIn(log: string): string | undefined {
  const errors = headOf(log)
    .split('\n')
    .flatMap((line) => messageOf(line));
  return errors.at(-1)?.replace(/^runc (?:run|create|exec) failed: /, '');
}

function messageOf(line: string): string[] {
  try {
    const { level, msg } = JSON.parse(line) as { level?: unknown; msg?: unknown };
    return level === 'error' && typeof msg === 'string' ? [msg] : [];
  } catch {
    return [];
  }
}

function headOf(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const buffer = Buffer.alloc(MAX_LOG_BYTES);
      return buffer.toString('utf8', 0, readSync(descriptor, buffer));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
