import { readFileSync, writeFileSync } from 'node:fs';

/** A seed that once showed something. A change of the simulation may make another history of it; it costs little to run it all the same. */
export interface KeptSeed {
  seed: number;
  steps: number;
  /** From before somebody listened and canceled: run without that, it is the history that it was. */
  quiet?: true;
  /** The invariant that was broken, and how. */
  showed: string;
}

const file = new URL('./kept-seeds.json', import.meta.url);

export function keptSeeds(): KeptSeed[] {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function keepSeed(kept: KeptSeed): void {
  const all = keptSeeds();
  if (all.some(({ seed, steps }) => seed === kept.seed && steps === kept.steps)) return;
  writeFileSync(file, `${JSON.stringify([...all, kept], null, 2)}\n`);
}
