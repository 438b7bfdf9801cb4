/** Who a process of a container is: its user and groups, environment, working directory and command. */
import type { ImageConfig } from '../../images/image-config.ts';
import type { ContainerConfig } from '../../runtime/container-config.ts';
import { RuntimeError } from '../../runtime/errors.ts';

export interface ProcessIdentity {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** `NAME=value`. */
  readonly env: readonly string[];
  readonly workingDirectory: string;
  readonly command: readonly string[];
}

/** The files of the image that name users and groups; empty if it has none. */
export interface UserFiles {
  readonly passwd: string;
  readonly group: string;
}

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

export function identityOf(
  config: ContainerConfig,
  image: ImageConfig,
  users: UserFiles,
  hostname: string,
): ProcessIdentity {
  const user = userOf(config, image, users);
  const env = new Map<string, string>([['PATH', DEFAULT_PATH]]);
  for (const variable of image.env) {
    const at = variable.indexOf('=');
    if (at > 0) env.set(variable.slice(0, at), variable.slice(at + 1));
  }
  if (config.tty) env.set('TERM', 'xterm');
  env.set('HOSTNAME', hostname);
  for (const { name, value } of config.env) env.set(name, value);
  if (!env.has('HOME')) env.set('HOME', user.home);
  return {
    uid: user.uid,
    gid: user.gid,
    groups: user.groups,
    env: [...env].map(([name, value]) => `${name}=${value}`),
    workingDirectory: config.workingDirectory ?? image.workingDirectory ?? '/',
    command: commandOf(config, image),
  };
}

/** The command replaces the entry point and the arguments of the image; arguments alone replace only those. */
function commandOf(config: ContainerConfig, image: ImageConfig): string[] {
  const hasCommand = config.command !== undefined && config.command.length > 0;
  const args = config.args !== undefined && config.args.length > 0 ? config.args : hasCommand ? [] : image.args;
  const command = [...(hasCommand ? config.command : image.entrypoint), ...args];
  if (command.length === 0) throw new RuntimeError('CannotRun', 'no command specified');
  return command;
}

interface User {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  readonly home: string;
}

function userOf({ security }: ContainerConfig, image: ImageConfig, files: UserFiles): User {
  const [imageUser = '', imageGroup] = (image.user ?? '').split(':');
  const wanted = security.runAsUser !== undefined ? String(security.runAsUser) : (security.runAsUsername ?? imageUser);
  const entries = rowsOf(files.passwd);
  const entry = entries.find(([name, , uid]) => name === wanted || uid === wanted);
  if (!entry && wanted !== '' && !/^\d+$/.test(wanted))
    throw new RuntimeError('CannotRun', `unable to find user ${wanted}: no matching entries in passwd file`);
  const uid = wanted === '' ? 0 : Number(entry?.[2] ?? wanted);
  const row = entry ?? entries.find(([, , id]) => Number(id) === uid);
  const isImageUser = security.runAsUser === undefined && security.runAsUsername === undefined;
  const gid = security.runAsGroup ?? (isImageUser && imageGroup ? groupId(imageGroup, files) : Number(row?.[3] ?? 0));
  const member = row?.[0];
  const fromImage =
    security.mergesImageGroups && member !== undefined
      ? rowsOf(files.group)
          .filter(([, , , members]) => members?.split(',').includes(member))
          .map(([, , id]) => Number(id))
      : [];
  return {
    uid,
    gid,
    groups: [...new Set([gid, ...security.supplementalGroups, ...fromImage])],
    home: row?.[5] || (uid === 0 ? '/root' : '/'),
  };
}

function groupId(group: string, files: UserFiles): number {
  if (/^\d+$/.test(group)) return Number(group);
  const row = rowsOf(files.group).find(([name]) => name === group);
  if (!row) throw new RuntimeError('CannotRun', `unable to find group ${group}: no matching entries in group file`);
  return Number(row[2]);
}

function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(':'));
}
