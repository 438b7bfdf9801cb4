/** Looks for the image of a container, and pulls it if its policy says so. */
import type { Action, ActionOutcome } from '../../pod/plan/action.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';
import type { PullPolicy } from '../images/pull.ts';
import { podCredentials } from '../images/pull-secrets.ts';
import { containerNamed } from './containers.ts';
import type { ActionContext, Subject } from './context.ts';

type PullImage = Extract<Action, { readonly type: 'pull-image' }>;

export async function pullImage(context: ActionContext, subject: Subject, action: PullImage): Promise<ActionOutcome> {
  const found = containerNamed(subject.pod, action.container);
  if (!found) return { type: 'failed', reason: 'ErrImagePull', message: 'the container is not in the spec' };
  const { container, role } = found;
  const policy = (container.imagePullPolicy ?? 'IfNotPresent') as PullPolicy;
  const credentials = () => credentialsOf(context, subject, action.image);
  return context.pulls.ensure({ image: action.image, policy, credentials }, (event) =>
    subject.emit({ ...event, container: { name: container.name, role } }),
  );
}

async function credentialsOf(
  { objects }: ActionContext,
  { pod, emit }: Subject,
  image: string,
): Promise<readonly RegistryCredentials[]> {
  const { credentials, missing } = await podCredentials(pod, image, async (namespace, name) => {
    const secret = await objects.secret(namespace, name);
    return secret.type === 'found' ? secret.object : undefined;
  });
  if (missing.length > 0) {
    const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
    emit({ type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message, container: undefined });
  }
  return credentials;
}
