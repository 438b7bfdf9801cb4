import type { AuthorizationMode } from '../../../server/authz/modes.ts';
import type { PostReview } from '../../../server/authz/webhook/webhook.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ApiFlags } from './flags.ts';

/** The authorizers to ask, in their order. The webhook's kubeconfig is read, and its client loaded, when it is one of them. */
export async function authorization(
  settings: Pick<ApiFlags, 'authorizationMode' | 'authorizationWebhookConfigFile'>,
): Promise<{ authorization: readonly AuthorizationMode[]; postReview?: PostReview }> {
  const { authorizationMode: modes, authorizationWebhookConfigFile: file } = settings;
  if (modes.includes('Webhook') !== (file !== undefined)) {
    throw new CliError('--authorization-mode Webhook and --authorization-webhook-config-file must be given together');
  }
  return { authorization: withNodes(modes), ...(file === undefined ? {} : { postReview: await createPost(file) }) };
}

/** Adds the node authorizer where roles decide: without it, the cluster's own nodes could not do their work. */
function withNodes(modes: readonly AuthorizationMode[]): readonly AuthorizationMode[] {
  return modes.includes('RBAC') && !modes.includes('Node') ? ['Node', ...modes] : modes;
}

async function createPost(file: string): Promise<PostReview> {
  const [{ connectionOf, loadKubeconfig }, { createPostReview }] = await Promise.all([
    import('../../../client/kubeconfig/kubeconfig.ts'),
    import('../../../server/authz/webhook/post.ts'),
  ]);
  try {
    return createPostReview(await connectionOf(await loadKubeconfig([file])));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CliError(`--authorization-webhook-config-file ${file} cannot be used: ${why}`, { cause });
  }
}
