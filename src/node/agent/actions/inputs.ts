/** Reads what the environment of a container refers to. */
import { isStatic } from '../../admission/critical.ts';
import { fileKey, type Inputs } from '../../container/inputs.ts';
import { referencesOf } from '../../container/references.ts';
import type { SeenContainer } from '../../pod/container-run.ts';
import { type ActionContext, addressesOf, type Subject } from './context.ts';

export async function inputsOf(context: ActionContext, subject: Subject, container: SeenContainer): Promise<Inputs> {
  const { objects, volumes } = context;
  const node = context.node();
  const { pod } = subject;
  const { namespace = '' } = pod.metadata;
  const { configMaps, secrets, files } = referencesOf(container);
  const all = async <T>(names: readonly string[], read: (name: string) => Promise<T>) =>
    new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
  return {
    configMaps: await all(configMaps, (name) => objects.configMap(namespace, name)),
    secrets: await all(secrets, (name) => objects.secret(namespace, name)),
    files: new Map(
      await Promise.all(
        files.map(async (file) => [fileKey(file.volumeName, file.path), await volumes.readFile(pod, file)] as const),
      ),
    ),
    // A static pod does not wait for the server.
    services: await objects.services(!isStatic(pod)),
    podIPs: addressesOf(subject, node),
    hostIPs: node.hostIPs,
    allocatable: node.allocatable,
  };
}
