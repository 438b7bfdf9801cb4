/** Shows progress step by step: one line per step, with its result and how long it took. */
import { oneLine } from './one-line.ts';

export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Says how far a step is, which a terminal shows while it runs; the last call is its result. */
export type Say = (detail: string) => void;

export interface Steps {
  run<T>(title: string, task: (say: Say) => Promise<T>): Promise<T>;
  /** Prints a line between steps. */
  line(text: string): void;
}

const TITLE_WIDTH = 14;
const PROGRESS_WIDTH = 60;

/**
 * On a terminal, a step is announced and its line rewritten when it is done; elsewhere each line is written once. No step
 * begins after `stop` is aborted: it rejects with the reason.
 */
export function createSteps(screen: Screen, now: () => number, stop?: AbortSignal): Steps {
  const style = screen.isTTY ? coloured : plain;
  return {
    async run(title, task) {
      stop?.throwIfAborted();
      const start = now();
      let detail = '';
      screen.write(style.begin(title));
      try {
        const result = await task((text) => {
          detail = oneLine(text);
          screen.write(style.progress(title, detail));
        });
        screen.write(style.done(title, detail, now() - start));
        return result;
      } catch (error) {
        screen.write(style.failed(title));
        throw error;
      }
    },
    line: (text) => screen.write(`${text}\n`),
  };
}

interface Style {
  begin(title: string): string;
  progress(title: string, detail: string): string;
  done(title: string, detail: string, took: number): string;
  failed(title: string): string;
}

const plain: Style = {
  begin: () => '',
  progress: () => '',
  done: (title, detail, took) => `${title.padEnd(TITLE_WIDTH)} ${detail} (${Math.round(took)} ms)\n`,
  failed: (title) => `${title.padEnd(TITLE_WIDTH)} failed\n`,
};

const coloured: Style = {
  begin: (title) => `  \x1b[2m… ${title}\x1b[0m`,
  // A line that does not fit cannot be rewritten.
  progress: (title, detail) =>
    `\r\x1b[2K  \x1b[2m… ${title.padEnd(TITLE_WIDTH)} ${detail.slice(0, PROGRESS_WIDTH)}\x1b[0m`,
  done: (title, detail, took) =>
    `\r\x1b[2K  \x1b[32m✓\x1b[0m ${title.padEnd(TITLE_WIDTH)} ${detail} \x1b[2m${Math.round(took)} ms\x1b[0m\n`,
  failed: (title) => `\r\x1b[2K  \x1b[31m✗\x1b[0m ${title}\n`,
};
