import { randomBytes } from 'node:crypto';
import type { ClipRequest } from '../demo/api-client.ts';
import type { OwnerToken } from '../stack/local-keys.ts';
import type { SumeSimulatorOptions } from '../sume-simulator/settings.ts';

/* Who sends what to which accounts. The same limits are told to the product and enforced by the simulator. */

/**
 * Of each account. Sume's own, but for the creates: at ten a minute, filling the slots and keeping them filled would take a
 * quarter of an hour.
 */
export const limits = {
  maxInFlight: 24,
  readsPerMinute: 120,
  readsPerDay: 10_000,
  createsPerMinute: 60,
  createsPerDay: 300,
};

/** Short ones, for the same reason: twelve renders of a minute each after another are no demonstration. */
export const renderSeconds = { least: 20, most: 60 };

export interface DemoOwner {
  name: string;
  jobs: number;
}

/** The first one floods; the others come when all its jobs are accepted. */
export const owners: readonly [DemoOwner, ...DemoOwner[]] = [
  { name: 'flood', jobs: 240 },
  { name: 'ada', jobs: 20 },
  { name: 'bert', jobs: 20 },
  { name: 'cleo', jobs: 20 },
];

export interface DemoAccount {
  id: string;
  /** The environment variable of its key, and the key. */
  keyVariable: string;
  key: string;
}

/** With new keys, which only the simulator of this run takes. */
export function makeAccounts(): DemoAccount[] {
  return ['north', 'south', 'west'].map((id) => ({
    id,
    keyVariable: `SUME_API_KEY_${id.toUpperCase()}`,
    key: `sume_demo_${randomBytes(24).toString('hex')}`,
  }));
}

export function makeTokens(): OwnerToken[] {
  return owners.map(({ name }) => ({ owner: name, token: `pk_demo_${randomBytes(24).toString('hex')}` }));
}

/** What ACCOUNTS is. */
export function accountsSetting(accounts: readonly DemoAccount[]): string {
  return JSON.stringify(accounts.map(({ id }) => ({ id, secret: `sume-api-key-${id}`, ...limits })));
}

/**
 * All slots are for rendering, none for waiting, so that the demonstration takes minutes: who is admitted holds one of as many
 * slots either way. Windows slide, which is the strictest way to count: no minute, however it lies, may have more.
 */
export function simulatorOptions(accounts: readonly DemoAccount[]): SumeSimulatorOptions {
  const { maxInFlight, ...rates } = limits;
  return {
    apiKeys: accounts.map(({ key }) => key),
    limits: { processing: maxInFlight, queued: 0, ...rates },
    window: 'sliding',
    renderSeconds,
    answerDelayMs: { mean: 60, spread: 40 },
  };
}

/** A clip's name, e.g. `ada-17`, by which the provider's record of it is known again. */
export function clipName(owner: string, number: number): string {
  return `${owner}-${number}`;
}

export function clipOf(name: string): ClipRequest {
  const prompt = `${name}: a paper boat rides a gutter stream after rain`;
  return {
    input: { model: 'seedance-2-mini', prompt, duration: 8, resolution: '720p' },
    metadata: { demo: 'npm run accounts-demo' },
  };
}

export function clipNameIn(input: Record<string, unknown>): string {
  return String(input.prompt).split(':', 1)[0] ?? '';
}
