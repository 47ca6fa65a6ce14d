import { jobIdFor } from '../../lib/identify.ts';

/** The id under which the contenders know job n. */
export function jobIdOf(job: number): string {
  return jobIdFor('bench', String(job));
}

/** The id under which the provider knows job n. */
export function providerIdOf(job: number): string {
  return `sim_${job}`;
}

/** Undefined for any other text. */
export function jobOfProviderId(id: string): number | undefined {
  return /^sim_\d+$/.test(id) ? Number(id.slice(4)) : undefined;
}
