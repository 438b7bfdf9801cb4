import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files whose size does not tell how long they take. On a fresh clone, where no durations are known, vitest starts large files
 * first: these would be the last ones, each alone on its core.
 */
const LONG = ['test/linear/doubling-groups', 'test/linear/doubling-core', 'test/crash/cluster/cluster'];

/** Starts the files that take longest first, so that the cores are busy until the end. */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const isLong = ({ moduleId }: TestSpecification) => {
      const path = relative(this.ctx.config.root, moduleId);
      return LONG.some((start) => path.startsWith(`${start}.`));
    };
    // Projects are not mixed: they run one after another, and their order is that of `groupOrder`.
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) => {
      const own = sorted.filter((each) => each.project === project);
      return [...own.filter(isLong), ...own.filter((each) => !isLong(each))];
    });
  }
}
