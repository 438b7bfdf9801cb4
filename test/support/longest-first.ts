import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONG_FILES } from './long-files.ts';

/**
 * Starts the files that take longest first, so that the cores are busy until the end. On a fresh clone, where no durations are
 * known, vitest starts large files first, but some of the longest have four lines: as the last one of a project, such a file
 * would run alone for more than a minute.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(specifications);
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONG_FILES.indexOf(relative(this.ctx.config.root, moduleId));
      return index === -1 ? LONG_FILES.length : index;
    };
    const files = (project: TestSpecification['project']) =>
      sorted.filter((each) => each.project === project).sort((one, other) => rank(one) - rank(other));
    // Projects are not mixed. Isolated ones come first: they are few, and their long files would run alone at the end.
    const projects = [...new Set(sorted.map(({ project }) => project))];
    const isolated = projects.filter(({ config }) => config.isolate);
    return [...isolated, ...projects.filter(({ config }) => !config.isolate)].flatMap(files);
  }
}
