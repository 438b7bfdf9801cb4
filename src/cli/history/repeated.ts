/** Parts of commands that are printed for users to run next. */
import { choiceOf } from '../clusters/choice.ts';
import { ownKubeconfig } from '../up/identity/kubeconfig.ts';
import type { UndoFlags } from './flags.ts';
import type { Named, Selection } from './object-api.ts';

/** The flags that find the same cluster, for `kubectl` and `qd` alike; empty, or beginning with a space. */
export function sameCluster(flags: UndoFlags): string {
  const choice = choiceOf(flags, process.env);
  if (choice.by === 'default') return '';
  const { kubeconfig, context } =
    choice.by === 'directory' ? { kubeconfig: ownKubeconfig(choice.directory), context: undefined } : choice;
  return [
    ...(kubeconfig === undefined ? [] : [` --kubeconfig ${kubeconfig}`]),
    ...(context === undefined ? [] : [` --context ${context}`]),
  ].join('');
}

/** The command that undoes a change of the same object. */
export function sameUndo({ type, name }: Named, { found }: Pick<Selection, 'found'>, flags: UndoFlags): string {
  const isElsewhere = found.namespaced && (flags.namespace ?? 'default') !== 'default';
  return `qd undo ${type} ${name}${isElsewhere ? ` -n ${flags.namespace}` : ''}${sameCluster(flags)}`;
}
