import type { Evidence } from './evidence.ts';

/** How it stands, in one line, e.g. ` 75 s  waiting 182 · in slots 24/24/23 · ended 47 · refused: 0 creates, 0 reads`. */
export function progressLine({ startedAtMs, sent, renders, accounts }: Evidence, nowMs: number): string {
  const inSlots = accounts.map(
    ({ id }) => renders.filter(({ account, endToldAtMs }) => account === id && endToldAtMs === null).length,
  );
  const ended = renders.filter(({ endToldAtMs }) => endToldAtMs !== null).length;
  const seconds = accounts.flatMap((account) => account.seconds);
  const creates = seconds.reduce((sum, one) => sum + one.createsRefusedForRate + one.createsRefusedForRoom, 0);
  const reads = seconds.reduce((sum, one) => sum + one.readsRefused, 0);
  const elapsed = `${Math.floor((nowMs - startedAtMs) / 1000)} s`.padStart(6);
  const waiting = Math.max(0, sent.length - renders.length);
  return `${elapsed}  waiting ${waiting} · in slots ${inSlots.join('/')} · ended ${ended} · refused: ${creates} creates, ${reads} reads`;
}
