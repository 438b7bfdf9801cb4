/**
 * Writes the administrator's kubeconfig: to the file of --kubeconfig, or to the data directory and, as a context, into the
 * user's own. A file that is up to date is left alone, which is found out without parsing YAML.
 */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { explain } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import { readIfThere, writeWhole } from '../../process/files.ts';

/** What a kubeconfig needs; certificates and keys are PEM. */
interface Access {
  readonly name: string;
  readonly server: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** The URL under which a client on this machine reaches a listener. */
export function serverUrl(host: string, port: number): string {
  if (host === '0.0.0.0') return `https://127.0.0.1:${port}`;
  if (host === '::') return `https://[::1]:${port}`;
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

interface Publication {
  readonly access: Access;
  /** From --kubeconfig. */
  readonly file: string | undefined;
  /** The cluster's data directory. */
  readonly directory: string;
  readonly clock: Clock;
}

/** Resolves with the file to name to kubectl; undefined when its default one has the cluster. */
export async function publishAccess(publication: Publication, say: Say): Promise<string | undefined> {
  const { access, file: given, directory, clock } = publication;
  const file = given === undefined ? join(directory, 'admin.kubeconfig') : resolve(given);
  await writeAccess(file, access, clock);
  say(file);
  if (given !== undefined) return file;
  const users = userFile(process.env, homedir());
  try {
    await writeAccess(users, access, clock);
  } catch (error) {
    // The cluster can be used without it.
    say(`${file}; ${users} could not be changed: ${explain(error)}`);
    return file;
  }
  say(`context "${access.name}" in ${users}`);
  return undefined;
}

/** Writes the kubeconfig, or merges the cluster into one that exists. */
export async function writeAccess(file: string, access: Access, clock: Clock): Promise<void> {
  const text = (await readIfThere(file)) ?? '';
  if (isUpToDate(text, access)) return;
  if (text.trim() !== '') {
    const { writeContext } = await import('../../../client/kubeconfig/kubeconfig-file.ts');
    // A cluster that was in the file before does not become the current context again.
    const current = !text.includes(base64(access.ca));
    await writeContext(file, { ...access, current }, clock);
    return;
  }
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeWhole(file, render(access));
}

/** The file outside the data directory that a start writes to. `given` is from --kubeconfig. */
export function publishedFile(given: string | undefined): string {
  return given === undefined ? userFile(process.env, homedir()) : resolve(given);
}

/** The file that kubectl would change: the first of $KUBECONFIG that exists, or else its last. */
export function userFile(env: NodeJS.ProcessEnv, home: string): string {
  const files = (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
  return resolve(files.find((file) => existsSync(file)) ?? files.at(-1) ?? join(home, '.kube', 'config'));
}

/** Whether the text has this cluster: certificates and keys are unique. */
function isUpToDate(text: string, { server, ca, cert, key }: Access): boolean {
  return [`server: ${server}\n`, base64(ca), base64(cert), base64(key)].every((part) => text.includes(part));
}

function render({ name, server, ca, cert, key }: Access): string {
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: ${base64(ca)}
    server: ${server}
  name: ${name}
contexts:
- context:
    cluster: ${name}
    user: ${name}
  name: ${name}
current-context: ${name}
preferences: {}
users:
- name: ${name}
  user:
    client-certificate-data: ${base64(cert)}
    client-key-data: ${base64(key)}
`;
}

function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
