import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Job, JobState } from './job.ts';

/** What a create fixed for good. Everything later follows from these lines and the clock. */
export type CreatedJob = Omit<Job, 'state' | 'startedAtMs' | 'endsAtMs' | 'endedAtMs'>;
export type UsedKey = { key: string; fingerprint: string };

/** One line. `lanes: null` means any number. `opened` is written at every start, because seed and lanes may change between two. */
export type JournalLine =
  | { kind: 'opened'; atMs: number; seed: string; lanes: number | null }
  | { kind: 'created'; atMs: number; job: CreatedJob; used?: UsedKey }
  | { kind: 'moved'; atMs: number; jobId: string; state: JobState; used?: UsedKey };

export type Journal = { append(line: JournalLine): void; close(): void };

const FILE = 'sume-simulator.jsonl';
const NEWLINE = 0x0a;

/**
 * Opens (and makes, when missing) the journal of a data directory and returns the lines it holds.
 * A last line that was cut off by a kill is dropped, from the file too, so that the next one starts on a line of its own.
 * A line is handed to the operating system before its request is answered: it survives a killed process, not a power cut.
 */
export function openJournal(dataDir: string): { journal: Journal; lines: JournalLine[] } {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, FILE);
  const file = openSync(path, 'a+');
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end < bytes.length) ftruncateSync(file, end);
  const lines = bytes
    .subarray(0, end)
    .toString('utf8')
    .split('\n')
    .flatMap((text, index) => (text === '' ? [] : [parseLine(text, index + 1, path)]));
  return {
    lines,
    journal: {
      append: (line) => void writeSync(file, `${JSON.stringify(line)}\n`),
      close: () => closeSync(file),
    },
  };
}

/** For a simulator that forgets everything when it stops. */
export const noJournal: Journal = { append: () => {}, close: () => {} };

function parseLine(text: string, number: number, path: string): JournalLine {
  try {
    return JSON.parse(text) as JournalLine;
  } catch (cause) {
    throw new Error(
      `${path}, line ${number} is not JSON; expected one object a line. Move the file away to start anew.`,
      {
        cause,
      },
    );
  }
}
