/** The steps of a command that can be run again. */
import { CliError, explain } from '../../output/cli-error.ts';
import { createSteps, type Screen, type Steps } from '../../output/steps.ts';

/** The error of a step says so: this and earlier steps may have changed something. */
export function repeatableSteps(screen: Screen = process.stdout): Steps {
  const steps = createSteps(screen, () => performance.now());
  return {
    ...steps,
    async run(title, task) {
      try {
        return await steps.run(title, task);
      } catch (cause) {
        throw new CliError(`${explain(cause)}; run the command again to continue`, { cause });
      }
    },
  };
}
