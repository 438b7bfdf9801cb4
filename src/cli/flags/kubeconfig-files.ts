/** Which kubeconfig files belong to the user, by the rules of kubectl. */
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

/** The files of $KUBECONFIG, in their order; empty when it is not set. */
export function filesOfVariable(env: NodeJS.ProcessEnv): readonly string[] {
  return (env.KUBECONFIG ?? '').split(delimiter).filter((file) => file !== '');
}

/** The file that is used without $KUBECONFIG. */
export const defaultKubeconfig = (home: string = homedir()) => join(home, '.kube', 'config');
