/** A stream of lines with, in a terminal, a block below them that is drawn anew in place. */
export interface Screen {
  /** Whether the block can be redrawn. */
  readonly live: boolean;
  readonly columns: number;
  line(text: string): void;
  /** Replaces the block; nothing happens where there is no terminal. */
  block(lines: readonly string[]): void;
  /** Leaves the block where it stands: what comes next goes below it. */
  settle(): void;
}

type Output = { write(text: string): unknown; isTTY?: boolean; columns?: number };

export function openScreen(output: Output, terminal = process.env.TERM): Screen {
  const live = output.isTTY === true && terminal !== 'dumb';
  let shown: readonly string[] = [];
  const clear = () => (shown.length === 0 ? '' : `\x1b[${shown.length}A\r\x1b[J`);
  const drawn = () => shown.map((line) => `${line}\n`).join('');
  return {
    live,
    get columns() {
      return output.columns || 80;
    },
    line: (text) => {
      const before = live ? clear() : '';
      output.write(`${before}${text}\n${live ? drawn() : ''}`);
    },
    block: (lines) => {
      if (!live) return;
      const before = clear();
      shown = lines;
      output.write(`${before}${drawn()}`);
    },
    settle: () => {
      shown = [];
    },
  };
}
