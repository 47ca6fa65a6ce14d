import { Announcer } from '../announce.ts';
import { type Environment, readEventBusConfig } from '../config.ts';
import type { EndpointStore, EventQueue } from '../event-ports.ts';
import type { News } from '../news.ts';
import { EndpointAudience } from '../webhooks/audience.ts';
import { clock, log } from './process.ts';

/** Who hears of a job's events, and how the function that delivers is told. */
export function connectNews(
  environment: Environment,
  endpoints: Pick<EndpointStore, 'list'>,
  eventQueue: EventQueue,
): News {
  const audience = new EndpointAudience({ endpoints, clock, log }, { bus: readEventBusConfig(environment) !== null });
  const announcer = new Announcer(eventQueue, log, clock);
  return { address: (job) => audience.address(job), announce: (job) => announcer.announce(job) };
}
