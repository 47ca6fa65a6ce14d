/** A drain in a process of its own, wired from its environment; it runs for as long as `REMAINING_MS` says, reports and ends. */
import { drain } from '../../lib/drain.ts';
import { wireDrain } from '../../lib/wire/drain.ts';
import type { Ready } from './node-process.ts';

process.on('disconnect', () => process.exit(0));

const [wired] = (await wireDrain(process.env)).drains;
if (wired === undefined) throw new Error('There is no account.');
const { ports, settings } = wired;
process.send?.({ kind: 'ready' } satisfies Ready);
const endsAtMs = performance.now() + Number(process.env.REMAINING_MS);
const report = await drain(ports, settings, () => endsAtMs - performance.now());
process.send?.({ kind: 'ended', report }, () => process.exit(0));
