import { runProgram } from '../../base/programs/run-program.ts';
import { type NftCommand, nftText } from './nft-json.ts';

/** Linux allows 128 KiB for one argument. */
const MAX_ARGUMENT_BYTES = 100_000;
/** `nft` opens its input by the name /dev/stdin, which the kernel refuses for the sockets that Node connects programs with. */
const THROUGH_PIPE = ['/bin/sh', '-c', 'cat | "$0" -j -f -'];

/** Performs all commands or none. Rejects with what `nft` said. `enter`: a command that runs another one in a network namespace. */
export async function runNft(
  nft: string,
  commands: readonly NftCommand[],
  enter: readonly string[] = [],
): Promise<void> {
  const text = nftText(commands);
  if (Buffer.byteLength(text) <= MAX_ARGUMENT_BYTES) await runProgram([...enter, nft, '-j', text]);
  else await runProgram([...enter, ...THROUGH_PIPE, nft], { input: text, path: '/usr/bin:/bin' });
}
