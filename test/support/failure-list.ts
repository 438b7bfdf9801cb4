import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

/** Lengths at which the list is cut: where a log is kept in part, its end must name every failure. */
const MAX_MESSAGE_LENGTH = 300;
const MAX_FAILURES = 30;

/** Ends the output of a run with each failure on one line: the details may be thousands of lines above. */
export class FailureList implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const failures = [...modules.flatMap(failuresOf), ...unhandledErrors.map((error) => lineOf('unhandled', [error]))];
    if (failures.length === 0) return;
    const shown = failures.slice(0, MAX_FAILURES);
    const rest = failures.length - shown.length;
    console.log(
      ['', `Failures (${failures.length}):`, ...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])].join('\n'),
    );
  }
}

function failuresOf(module: TestModule): string[] {
  const file = module.relativeModuleId;
  const failedTests = [...module.children.allTests('failed')].map((test) =>
    lineOf(`${file} > ${test.fullName}`, test.result().errors ?? []),
  );
  const failedSuites = [...module.children.allSuites()].flatMap((suite) =>
    suite.errors().length > 0 ? [lineOf(`${file} > ${suite.fullName}`, suite.errors())] : [],
  );
  const failedImport = module.errors().length > 0 ? [lineOf(file, module.errors())] : [];
  return [...failedImport, ...failedSuites, ...failedTests];
}

function lineOf(name: string, errors: readonly { readonly message: string }[]): string {
  const message = stripVTControlCharacters(errors[0]?.message ?? 'no error').replace(/\s+/g, ' ');
  return `✗ ${name}: ${message.slice(0, MAX_MESSAGE_LENGTH)}`;
}
