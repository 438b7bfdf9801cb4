/** Shows a start step by step: one line a step with what it found and how long it took. */

interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Says what a step found; what is said last stands behind its title. */
export type Say = (detail: string) => void;

export interface Steps {
  run<T>(title: string, task: (say: Say) => Promise<T>): Promise<T>;
  /** A line between steps. */
  line(text: string): void;
}

const WIDTH = 14;

/** On a terminal a step is announced, and its line rewritten when it is done; elsewhere every line is written once. */
export function createSteps(screen: Screen, now: () => number): Steps {
  const style = screen.isTTY ? colourful : plain;
  return {
    async run(title, task) {
      const start = now();
      let detail = '';
      screen.write(style.begin(title));
      try {
        const result = await task((text) => {
          detail = text;
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
  done(title: string, detail: string, took: number): string;
  failed(title: string): string;
}

const plain: Style = {
  begin: () => '',
  done: (title, detail, took) => `${title.padEnd(WIDTH)} ${detail} (${Math.round(took)} ms)\n`,
  failed: (title) => `${title.padEnd(WIDTH)} failed\n`,
};

const colourful: Style = {
  begin: (title) => `  \x1b[2m… ${title}\x1b[0m`,
  done: (title, detail, took) =>
    `\r\x1b[2K  \x1b[32m✓\x1b[0m ${title.padEnd(WIDTH)} ${detail} \x1b[2m${Math.round(took)} ms\x1b[0m\n`,
  failed: (title) => `\r\x1b[2K  \x1b[31m✗\x1b[0m ${title}\n`,
};
