import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';

export type CapturedOutput = {
  /** The last lines, oldest first. */
  tail(): string[];
  onLine(listener: (line: string) => void): void;
};

const tailLines = 100;

/** The emulator tells of each call of the authorizer twice, with empty lines around: most of its output, and no news. */
const noise = /^\s*$|^Running Authorization function for |^\(λ: authorize\) RequestId: \S+\s+Duration: /;

/** Takes what the process prints, line by line and without the noise, and appends it to the file, if one is given. */
export function captureOutput(child: ChildProcess, logFile: string | undefined): CapturedOutput {
  const file = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' });
  const lines: string[] = [];
  const listeners: ((line: string) => void)[] = [];
  const take = (line: string) => {
    if (noise.test(line)) return;
    file?.write(`${line}\n`);
    lines.push(line);
    if (lines.length > tailLines) lines.shift();
    for (const listener of listeners) listener(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const line of parts) take(line);
    });
    stream?.once('end', () => take(rest));
  }
  child.once('close', () => file?.end());
  return { tail: () => [...lines], onLine: (listener) => listeners.push(listener) };
}
