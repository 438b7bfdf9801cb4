/**
 * Which cluster a command is about. All commands take the same flags: --name or --data-dir name a cluster of this machine,
 * --context or --kubeconfig a context. Without any, the environment names one, or else the default of the command holds.
 */

import { existsSync } from 'node:fs';
import { readIfThere } from '../../base/files/own/files.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import {
  type ClusterFlags,
  clustersHome,
  DEFAULT_NAME,
  directoryNamed,
  nameFromEnvironment,
} from '../flags/cluster.ts';
import { type ContextChoice, contextConnection } from '../flags/connection.ts';
import { CliError } from '../output/cli-error.ts';
import { ownKubeconfig } from '../up/identity/kubeconfig.ts';
import { type Cluster, findClusters } from './find.ts';
import { originalOf } from './last-start.ts';
import { sharesAuthority } from './shares-authority.ts';

type Choice =
  | { readonly by: 'directory'; readonly directory: string; readonly name?: string | undefined }
  | ({ readonly by: 'context' } & ContextChoice)
  | { readonly by: 'default' };

/** Flags take precedence over the environment. Those of the two kinds exclude each other. */
export function choiceOf(flags: ClusterFlags, env: NodeJS.ProcessEnv): Choice {
  const { name, dataDir, context, kubeconfig } = flags;
  const [own] = namesOf({ '--name': name, '--data-dir': dataDir });
  const [other] = namesOf({ '--context': context, '--kubeconfig': kubeconfig });
  if (own !== undefined && other !== undefined) {
    throw new CliError(`${own} and ${other} exclude each other: both say which cluster is meant`);
  }
  if (other !== undefined) return { by: 'context', context, kubeconfig };
  const known = own === undefined ? nameFromEnvironment(env) : (name ?? DEFAULT_NAME);
  return known === undefined
    ? { by: 'default' }
    : {
        by: 'directory',
        directory: directoryNamed({ name: known, dataDir }),
        ...(dataDir === undefined && { name: known }),
      };
}

const namesOf = (values: Readonly<Record<string, string | undefined>>): string[] =>
  Object.keys(values).filter((name) => values[name] !== undefined);

/**
 * Resolves with the data directory of the cluster, which need not exist; by default that of the default name. Where no cluster
 * has the name, it is that of the node of an agent.
 */
export async function directoryOf(flags: ClusterFlags): Promise<string> {
  const choice = choiceOf(flags, process.env);
  switch (choice.by) {
    case 'directory':
      return (await directoryOfAgent(choice)) ?? choice.directory;
    case 'context':
      return directoryOfContext(choice);
    case 'default':
      return directoryNamed({ name: DEFAULT_NAME });
  }
}

/** Resolves with how to reach the API server; by default that of the current context. */
export async function connectionFor(flags: ClusterFlags): Promise<Connection> {
  const choice = choiceOf(flags, process.env);
  if (choice.by !== 'directory') return contextConnection(choice.by === 'context' ? choice : {});
  const { directory } = choice;
  const original = await originalOf(directory);
  if (original !== undefined) {
    throw new CliError(
      `${directory} is a copy of ${original} that has not been started: qd up --data-dir ${directory} starts it, and --data-dir ${original} means the original`,
    );
  }
  const file = ownKubeconfig(directory);
  if ((await readIfThere(file)) !== undefined) return contextConnection({ kubeconfig: file });
  throw new CliError(`${directory} is not the data directory of a cluster; ${await knownClusters()}`);
}

/** Resolves with undefined when the directory exists, or no agent has a node of the name. */
async function directoryOfAgent({ directory, name }: Choice & { by: 'directory' }): Promise<string | undefined> {
  if (name === undefined || existsSync(directory)) return undefined;
  const agents = (await findClusters(clustersHome())).filter((each) => each.kind === 'agent' && each.name === name);
  if (agents.length < 2) return agents[0]?.directory;
  const directories = agents.map((each) => each.directory).join(', ');
  throw new CliError(
    `several agents of this machine have a node "${name}"; choose one with --data-dir: ${directories}`,
  );
}

/** A context that leads to another machine has no data directory here. */
async function directoryOfContext(choice: ContextChoice): Promise<string> {
  const { server, ca } = await contextConnection(choice);
  const clusters = await findClusters(clustersHome());
  for (const { kind, directory, url } of clusters) {
    // A copied directory has the authority of the original, and a port of its own.
    if (kind === 'agent' || url === undefined || new URL(url).port !== new URL(server).port) continue;
    if (await sharesAuthority(directory, ca)) return directory;
  }
  const named = choice.context === undefined ? `--kubeconfig ${choice.kubeconfig}` : `--context ${choice.context}`;
  throw new CliError(`${named} leads to ${server}, which is not a cluster of this machine; ${await knownClusters()}`);
}

/** A hint for users who have named a cluster that is not there. `kinds` are those that the command works on. */
export async function knownClusters(kinds: readonly Cluster['kind'][] = ['cluster']): Promise<string> {
  const clusters = (await findClusters(clustersHome())).filter(({ kind }) => kinds.includes(kind));
  const names = clusters
    .map(({ kind, name, state }) => {
      const facts = [...(kind === 'agent' ? ['agent'] : []), ...(state === 'stopped' ? [] : [state])];
      return facts.length === 0 ? name : `${name} (${facts.join(', ')})`;
    })
    .join(', ');
  return `choose one with --name or --data-dir; ${names === '' ? 'qd list shows no clusters' : `qd list shows: ${names}`}`;
}
