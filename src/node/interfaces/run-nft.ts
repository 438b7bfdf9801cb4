import type { ProgramShell } from '../../base/programs/program-shell.ts';
import { runProgram } from '../../base/programs/run-program.ts';
import { type NftCommand, nftText } from './nft-json.ts';

/** Linux allows 128 KiB for one argument. */
const MAX_ARGUMENT_BYTES = 100_000;
/** `nft` opens its input by the name /dev/stdin, which the kernel refuses for the sockets that Node connects programs with. */
const THROUGH_PIPE = ['/bin/sh', '-c', 'cat | "$0" -j -f -'];

interface RunNftOptions {
  /** A command that runs another one in a network namespace. */
  readonly enter?: readonly string[];
  /** Runs `nft -j` in that namespace; missing: this process starts it. */
  readonly shell?: ProgramShell | undefined;
}

/** Performs all commands or none. Rejects with what `nft` said. */
export async function runNft(
  nft: string,
  commands: readonly NftCommand[],
  { enter = [], shell }: RunNftOptions = {},
): Promise<void> {
  const text = nftText(commands);
  const isShort = Buffer.byteLength(text) <= MAX_ARGUMENT_BYTES;
  if (isShort && shell) await shell.run(text);
  else if (isShort) await runProgram([...enter, nft, '-j', text]);
  else await runProgram([...enter, ...THROUGH_PIPE, nft], { input: text, path: '/usr/bin:/bin' });
}
