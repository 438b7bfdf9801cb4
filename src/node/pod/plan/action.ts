/** What the agent does about a pod. Each action has a key: while it is pending, it is not planned again. */
export type Action =
  | { readonly type: 'prepare-volumes' }
  | { readonly type: 'run-sandbox'; readonly attempt: number }
  | { readonly type: 'stop-sandbox'; readonly id: string }
  | { readonly type: 'remove-sandbox'; readonly id: string }
  | { readonly type: 'pull-image'; readonly container: string }
  /** Creates and starts it, and runs its postStart hook. */
  | { readonly type: 'start-container'; readonly container: string; readonly attempt: number }
  /** Runs its preStop hook and stops it, all within the grace period. */
  | {
      readonly type: 'stop-container';
      readonly id: string;
      readonly container: string;
      readonly graceSeconds: number;
      /** For the event: `Stopping container x`, or why it is killed. */
      readonly message: string;
    }
  | { readonly type: 'remove-container'; readonly id: string }
  | { readonly type: 'update-resources'; readonly id: string; readonly container: string }
  /** After everything has stopped: unmounts, and removes what the pod had on the node. */
  | { readonly type: 'clean-up' };

/** Identifies an action among those of one pod. */
export function actionKey(action: Action): string {
  switch (action.type) {
    case 'prepare-volumes':
    case 'clean-up':
      return action.type;
    case 'run-sandbox':
      return 'run-sandbox';
    case 'pull-image':
    case 'start-container':
      return `${action.type}/${action.container}`;
    default:
      return `${action.type}/${action.id}`;
  }
}
