/** Who may do what, from the flags. */
import { type Command, InvalidArgumentError } from 'commander';
import { type AuthorizationMode, authorizationModes } from '../../../server/authz/modes.ts';
import type { PostReview } from '../../../server/authz/webhook/webhook.ts';
import { CliError } from '../../output/cli-error.ts';

export interface AuthorizationFlags {
  readonly authorizationMode: readonly AuthorizationMode[];
  readonly authorizationWebhookConfigFile?: string;
}

const DEFAULT: readonly AuthorizationMode[] = ['Node', 'RBAC'];

export function withAuthorizationFlags(command: Command): Command {
  return command
    .option('--authorization-mode <modes>', `who decides what users may do: ${authorizationModes}`, modes, DEFAULT)
    .option('--authorization-webhook-config-file <file>', 'a kubeconfig that says whom the mode Webhook asks');
}

function modes(text: string): readonly AuthorizationMode[] {
  const named = text.split(',');
  const unknown = named.find((mode) => !authorizationModes.some((known) => known === mode));
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`"${unknown}" is none of ${authorizationModes.join(', ')}.`);
  }
  if (new Set(named).size < named.length) throw new InvalidArgumentError('A mode stands there twice.');
  return named as AuthorizationMode[];
}

/** How the server's options say it. The file is read, and the way to the webhook loaded, where there is one. */
export async function authorization(
  flags: AuthorizationFlags,
): Promise<{ authorization: readonly AuthorizationMode[]; postReview?: PostReview }> {
  const { authorizationMode: chosen, authorizationWebhookConfigFile: file } = flags;
  if (chosen.includes('Webhook') !== (file !== undefined)) {
    throw new CliError('--authorization-mode Webhook and --authorization-webhook-config-file need each other');
  }
  return { authorization: chosen, ...(file === undefined ? {} : { postReview: await poster(file) }) };
}

async function poster(file: string): Promise<PostReview> {
  const [{ connectionOf, loadKubeconfig }, { reviewPoster }] = await Promise.all([
    import('../../../client/kubeconfig/kubeconfig.ts'),
    import('../../../server/authz/webhook/post.ts'),
  ]);
  try {
    return reviewPoster(await connectionOf(await loadKubeconfig([file])));
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CliError(`--authorization-webhook-config-file ${file} cannot be used: ${why}`, { cause });
  }
}
