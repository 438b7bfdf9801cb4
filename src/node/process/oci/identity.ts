/** Who a process of a container is: its user and groups, environment, working directory and command. */
import type { ImageConfig } from '../../images/image-config.ts';
import type { ContainerConfig } from '../../runtime/container-config.ts';
import { RuntimeError } from '../../runtime/errors.ts';

export interface ProcessIdentity extends Omit<User, 'home'> {
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

/** The largest id that the kernel's and the API's types have in common. */
const MAX_ID = 2 ** 31 - 1;
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
  const entry = entryOf(wanted, rowsOf(files.passwd));
  const uid = wanted === '' ? 0 : isNumber(wanted) ? idIn(wanted, 'the image') : idIn(entry?.[2], 'the passwd file');
  const isImageUser = security.runAsUser === undefined && security.runAsUsername === undefined;
  const ofUser = () => (entry ? idIn(entry[3], 'the passwd file') : 0);
  const gid = security.runAsGroup ?? (isImageUser && imageGroup ? groupId(imageGroup, files) : ofUser());
  const member = entry?.[0];
  const fromImage =
    security.mergesImageGroups && member !== undefined
      ? rowsOf(files.group)
          .filter(([, , , members]) => members?.split(',').includes(member))
          .map(([, , id]) => idIn(id, 'the group file'))
      : [];
  return {
    uid,
    gid,
    groups: [...new Set([gid, ...security.supplementalGroups, ...fromImage])],
    home: entry?.[5] || (uid === 0 ? '/root' : '/'),
  };
}

/**
 * A number is never looked up as a name: an image could call root by the number with which a pod is allowed to run. Undefined: the image
 * has no entry for the number.
 */
function entryOf(wanted: string, entries: readonly string[][]): string[] | undefined {
  if (wanted === '' || isNumber(wanted)) return entries.find(([, , id]) => id === String(Number(wanted)));
  const entry = entries.find(([name]) => name === wanted);
  if (entry) return entry;
  throw new RuntimeError('CannotRun', `unable to find user ${wanted}: no matching entries in passwd file`);
}

function groupId(group: string, files: UserFiles): number {
  if (isNumber(group)) return idIn(group, 'the image');
  const row = rowsOf(files.group).find(([name]) => name === group);
  if (!row) throw new RuntimeError('CannotRun', `unable to find group ${group}: no matching entries in group file`);
  return idIn(row[2], 'the group file');
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

/** A runtime would take what is no number for 0, which is root. */
function idIn(text: string | undefined, where: string): number {
  const id = Number(text);
  if (text !== undefined && isNumber(text) && id <= MAX_ID) return id;
  throw new RuntimeError(
    'CannotRun',
    `expected the id of a user or group in ${where} to be a number from 0 to ${MAX_ID}, found ${JSON.stringify(text)}`,
  );
}

function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(':'));
}
