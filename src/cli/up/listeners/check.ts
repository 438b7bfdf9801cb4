import { INSECURE_HOST } from '../../../assembly/addresses.ts';
import { CliError } from '../../output/cli-error.ts';
import { checkFree } from '../../process/listen.ts';
import type { ListenerFlags } from './flags.ts';

/** Rejects when the server could not listen now. The ports are not kept: another program may still take them. */
export async function checkListeners(
  settings: Pick<ListenerFlags, 'bindAddress' | 'insecurePort'> & { readonly port: number },
): Promise<void> {
  const { bindAddress, port, insecurePort } = settings;
  await checkFree({ host: bindAddress, port });
  if (insecurePort === 0) return;
  if (insecurePort === port) throw new CliError(`--insecure-port and --port must differ; both are ${port}`);
  await checkFree({ host: INSECURE_HOST, port: insecurePort, portFlag: '--insecure-port' });
}
