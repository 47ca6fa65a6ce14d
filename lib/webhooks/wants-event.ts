import { type EventType, usualEventTypes } from '../event.ts';
import type { Job } from '../job.ts';

/** Whether the job has an endpoint of its own, and wants its events of this type to go there. */
export function wantsEvent({ webhookUrl, webhookEvents }: Job, type: EventType): boolean {
  return webhookUrl !== undefined && (webhookEvents ?? usualEventTypes).includes(type);
}
