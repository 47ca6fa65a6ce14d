import type { NotesPorts } from '../../lib/run-notes.ts';
import type { StepPorts } from '../../lib/step.ts';
import { MemoryRenderTimes } from './memory-render-times.ts';

/** For tests that are about neither money nor render times. */
export function memoryNotes(): Pick<NotesPorts, 'ledger' | 'renderTimes'> {
  return { ledger: { add: async () => {} }, renderTimes: new MemoryRenderTimes() };
}

/** A step's notes that change nothing. */
export const noNotes: StepPorts['notes'] = {
  firstReadAt: (_, dueAtMs) => dueAtMs,
  seenRunning: () => {},
  ended: () => {},
};
